/** Fills a text up on the left. */
export default function pad(text: string, width: number): string {
  return text.length < width ? pad(` ${text}`, width) : text;
}

export const quote = (text: string): string => `"${text}"`;
