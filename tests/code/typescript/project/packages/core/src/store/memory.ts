import { Ferry, Vessel } from "../ship";
import { Missing } from "./errors";

type Visit = (ferry: Ferry, at: number) => void;

export class MemoryStore<T extends Vessel = Ferry> {
  private held = new Map<string, Ferry>();
  private queue: Ferry[] = [];

  put(ferry: Ferry): this {
    this.held.set(ferry.name, ferry);
    return this;
  }

  async find(name: string): Promise<Ferry> {
    const found = this.held.get(name);
    if (!found) throw Missing.of(name);
    found.speed();
    return found;
  }

  each(visit: Visit): void {
    this.queue.forEach((ferry, at) => visit(ferry, at));
    for (const ferry of this.queue) ferry.hours(1);
    for (const [, ferry] of this.held) ferry.speed();
  }

  first(make: () => T): T {
    return make();
  }
}

export function open(): MemoryStore;
export function open(name: string): MemoryStore;
export function open(name?: string) {
  return new MemoryStore();
}
