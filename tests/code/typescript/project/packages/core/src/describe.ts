import * as ships from "./ship";
import { open, errors } from "./store";
import pad, { quote } from "@harbour/core/text/pad";

namespace Layout {
  export function row(text: string): string {
    return column(text);
  }

  function column(text: string): string {
    return pad(quote(text), 10);
  }
}

export function logged(target: unknown, key: string): void {}

export class Report {
  @logged
  print(ferry: ships.Ferry | null): string {
    ferry?.captain.salute(1).salute(2);
    return Layout.row(ferry!.name);
  }
}

export async function describeAll(names: string[]): Promise<void> {
  const store = open().put(ships.Ferry.launch(undefined as never));
  const { find } = store;
  const ferry = await store.find(names[0]);
  ferry.onHorn(1);
  store.each((each) => {
    const quote = each.speed();
    each.hours(quote);
  });
  try {
    const pad = names.map((name) => quote(name));
    pad.join();
  } catch (error) {
    (error as errors.Missing).toString();
    errors.Missing.of("x");
  }
  new Report().print(ferry);
  unknownThing.run();
}
