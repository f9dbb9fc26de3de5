import type { PlantedBug } from '../plant.ts';

export const bug: PlantedBug = {
  name: 'outbox-row-deleted-too-early',
  why: "A tell's row is removed before, and not with, the commit of its effects.",
  edits: [
    {
      file: 'runtime/delivery/tell-delivery.ts',
      find: '    const outcome = await this.#turn(tell, handler, (turn, row, reads) => {',
      replace:
        "    const early = { row: undefined as TellRow | undefined };\n    await this.#turn(tell, undefined, (turn, row) => {\n      early.row = row;\n      turn.consume(row);\n    });\n    if (early.row === undefined) return metrics.delivered('tell', 'dropped');\n    const found = early.row;\n    const outcome = await this.#turn(tell, handler, (turn, _row, reads) => {\n      const row = found;",
    },
    {
      file: 'runtime/delivery/tell-delivery.ts',
      find: "      if (row === undefined) return 'dropped';\n      work(turn, row, results as never);",
      replace:
        "      if (row === undefined && handler === undefined) return 'dropped';\n      work(turn, row as TellRow, results as never);",
    },
  ],
};
