function Button(props) {
  return parse(props);
}

const parse = (props) => JSON.parse(props);

export function* Box() {
  yield* walk();
}

const walk = function* () {
  yield 1;
};

export const initial = () => ({ open: false });
export { Button as default };
