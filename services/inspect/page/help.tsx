const KEYS: [string[], string][] = [
  [['/'], 'search'],
  [['j', 'k', '↓', '↑'], 'next and previous actor'],
  [['h', 'l', '←', '→'], 'fold and unfold; to the parent'],
  [['Enter'], 'fold or unfold; from the search: the first match'],
  [['Esc'], 'clear search and filters; close this'],
  [['?'], 'this'],
];

const COLOURS: [string, string][] = [
  ['good', 'is where it should be'],
  ['busy', 'runs an effect: a call is in flight'],
  ['waiting', 'waits for a timer or an event'],
  ['failing', 'something went wrong; it is tried again, or a person is needed'],
  ['stuck', 'has been waiting, or a call has been in flight, for too long'],
  ['over', 'has ended'],
];

export function Help({ onClose }: { onClose(): void }) {
  return (
    <div class="veil" onClick={onClose}>
      <div class="help" role="dialog" aria-label="Keys and colours" onClick={(event) => event.stopPropagation()}>
        <h2>Keys</h2>
        <dl>
          {KEYS.map(([keys, what]) => (
            <>
              <dt>
                {keys.map((key) => (
                  <kbd>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <h2>Colours</h2>
        <dl>
          {COLOURS.map(([mood, what]) => (
            <>
              <dt>
                <i class={`dot ${mood}`} /> {mood}
              </dt>
              <dd>{what}</dd>
            </>
          ))}
        </dl>
        <button onClick={onClose}>Close</button>
      </div>
    </div>
  );
}
