/** Runs `work` for every item, `jobs` at a time; answers come in the order of the items. */
export async function pool<T, R>(
  items: readonly T[],
  jobs: number,
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index] as T;
      results[index] = await work(item, index);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}
