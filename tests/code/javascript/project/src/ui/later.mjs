import Panel from './Panel.jsx';
export * from './loop.mjs';

export let later = () => new Panel().render();
