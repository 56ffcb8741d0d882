import type { Clock } from "#clock";

export enum Flag { Red, Green }

export abstract class Vessel {
  constructor(protected readonly clock: Clock, public name = "unnamed") {}

  abstract speed(): number;

  /** How long a way takes. */
  hours(miles: number): number {
    this.log();
    return miles / this.speed() + this.clock.now();
  }

  protected log(): void {}
}

export class Ferry extends Vessel {
  static launch(clock: Clock): Ferry {
    return new Ferry(clock);
  }

  speed(): number {
    return 12;
  }

  get captain(): Captain {
    return new Captain(this);
  }

  onHorn = (times: number) => {
    this.log();
    this.captain.salute(times);
  };

  hours(miles: number): number {
    return super.hours(miles);
  }
}

export class Captain {
  constructor(private ferry: Ferry) {}

  salute(times: number): Captain;
  salute(times: string): Captain;
  salute(times: unknown): Captain {
    this.ferry.onHorn(Number(times));
    return this;
  }
}
