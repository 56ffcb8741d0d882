export * from "./ship";
export { Store, open, errors } from "./store";
export { default as pad } from "./text/pad";
export { SystemClock } from "#clock";
import { describeAll } from "./describe";
export { describeAll as report };
