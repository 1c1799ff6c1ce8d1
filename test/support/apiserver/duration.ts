const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

const two = (large: number, small: number, names: string) => `${large}${names[0]}${small ? `${small}${names[1]}` : ''}`;

/** How kubectl's columns write a length of time (ms). Source: apimachinery pkg/util/duration:HumanDuration. */
export function humanDuration(ms: number): string {
  const seconds = Math.floor(ms / SECOND);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (ms < 2 * MINUTE) return `${seconds}s`;
  const minutes = Math.floor(ms / MINUTE);
  if (minutes < 10) return two(minutes, seconds % 60, 'ms');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.floor(ms / HOUR);
  if (hours < 8) return two(hours, minutes % 60, 'hm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(ms / DAY);
  if (hours < 8 * 24) return two(days, hours % 24, 'dh');
  if (ms < 2 * YEAR) return `${days}d`;
  const years = Math.floor(ms / YEAR);
  return ms < 8 * YEAR ? two(years, days % 365, 'yd') : `${years}y`;
}
