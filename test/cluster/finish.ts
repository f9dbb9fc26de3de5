/** How the parts of a workload come to their end. */

export interface Finishing {
  finish(): Promise<void>;
}

/**
 * Resolves to the obstacles. One part after the other: at its end a part may check the whole history. That takes half a
 * minute in which nothing else goes on in this process, and requests of the others would time out.
 */
export async function finishAll(parts: readonly Finishing[]): Promise<readonly string[]> {
  const obstacles: string[] = [];
  for (const part of parts) {
    await part.finish().catch((error: Error) => {
      obstacles.push(`the workload did not finish: ${error.message}`);
    });
  }
  return obstacles;
}
