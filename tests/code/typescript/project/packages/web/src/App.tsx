import * as views from "@/views";
import { Card } from "@/views/Card";
import settings, { store } from "config";
import { pad, report } from "@harbour/core";

export default class App {
  render() {
    const Card2 = views.Card;
    return (
      <views.Frame>
        <Card ferry={this.pick()} />
        <Card2 ferry={this.pick()} />
        {pad("x", 1)}
      </views.Frame>
    );
  }

  private pick(): never {
    settings.refresh();
    report([]);
    throw store.find("y").then((ferry) => ferry.speed());
  }
}

const lazy = () => import("./views").then((module) => module.Frame);
