export { MemoryStore as Store, open } from "./memory.js";
export * as errors from "./errors";
