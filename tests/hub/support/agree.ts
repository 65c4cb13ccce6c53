import { join } from 'node:path'
import { expect } from 'vitest'

/** What a function makes of each text, or how it refuses it. */
export async function outcome(work: () => unknown): Promise<string> {
  try {
    return JSON.stringify(await work()) ?? 'nothing'
  } catch (error) {
    return `refused: ${error instanceof Error ? error.message : error}`
  }
}

/** Compares what becomes of each text with golden/texts/<name>.txt. */
export async function agree(name: string, texts: string[], read: (text: string) => unknown) {
  const lines: string[] = []
  for (const text of texts) {
    lines.push(`${JSON.stringify(text)}\n  ${await outcome(() => read(text))}\n`)
  }
  await expect(lines.join('')).toMatchFileSnapshot(
    join(import.meta.dirname, '../golden/texts', `${name}.txt`),
  )
}
