import type { Schemas } from '../../api/client.ts'

/** What will be summarised or left out of what is typed; none while all of it fits. */
export function overLimits(
  given: { task: number; text: number },
  limits: Schemas['MissionLimits'],
): { kind: 'long_task' | 'in_parts' | 'cut'; n: number }[] {
  const { task_characters, whole_text_characters, part_characters, parts } = limits
  const read = part_characters * parts
  return [
    ...(given.task > task_characters ? [{ kind: 'long_task' as const, n: task_characters }] : []),
    ...(given.text > read
      ? [{ kind: 'cut' as const, n: read }]
      : given.text > whole_text_characters
        ? [{ kind: 'in_parts' as const, n: Math.ceil(given.text / part_characters) }]
        : []),
  ]
}
