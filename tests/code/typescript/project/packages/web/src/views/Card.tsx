import React, { useState } from "react";
import type { Ferry } from "@harbour/core";

export interface CardProps {
  ferry: Ferry;
  onOpen?: (ferry: Ferry) => void;
}

export const Card = ({ ferry, onOpen }: CardProps) => {
  const [open] = useState(false);
  return <div onClick={() => onOpen?.(ferry)}>{ferry.hours(3)}</div>;
};

export function Frame(props: { children: React.ReactNode }) {
  return <section>{props.children}</section>;
}
