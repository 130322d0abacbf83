/** The largest round number of steps that is not below the value, and the marks on the way: 0, 50, 100, 150. */
export function scaleFor(largest: number, marks = 3): { top: number; ticks: number[] } {
  const rough = Math.max(1, largest / marks);
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((size) => size >= rough) ?? rough;
  const whole = Math.max(1, Math.ceil(step)); // There is no half notification.
  const count = Math.max(1, Math.ceil(largest / whole));
  return { top: whole * count, ticks: Array.from({ length: count + 1 }, (_, i) => i * whole) };
}
