/** An event that happens once. Code may wait for it before or after it did. */
export interface Signal<T> {
  raised: Promise<T>;
  raise(value: T): void;
}

export function signal<T>(): Signal<T> {
  let raise: (value: T) => void = () => {};
  const raised = new Promise<T>((resolve) => {
    raise = resolve;
  });
  return { raised, raise };
}
