import { describe, it, expect } from "vitest";
import { Ferry, open } from "../src/index.js";

function harbour() {
  return open();
}

describe("Ferry", () => {
  const ferry = Ferry.launch({ now: () => 0 });

  it("sails", () => {
    expect(ferry.hours(12)).toBe(1);
  });

  it("isn't lost", async () => {
    await harbour().find("x");
  });
});
