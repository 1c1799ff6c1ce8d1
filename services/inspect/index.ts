export { startInspector } from './inspector.ts';
