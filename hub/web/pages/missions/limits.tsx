import { queryOptions, useQuery } from '@tanstack/react-query'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { api, ok } from '../../api/client.ts'
import { limitsText } from './limits.text.ts'
import { overLimits } from './over-limits.ts'

const limitsQuery = queryOptions({
  queryKey: ['mission-limits'],
  queryFn: async () => (await ok(api.GET('/api/cockpit/missions/limits'))).limits,
  staleTime: 60_000,
})

/** How much a mission can take, and what of the typed text will not be read as it is. */
export function Limits({ task, text }: { task: number; text: number }) {
  const words = useText(limitsText)
  const language = useLanguage()
  const limits = useQuery(limitsQuery).data
  if (!limits) return null
  const say = (n: number) => number(language, n)
  const { task_characters, whole_text_characters, part_characters, parts } = limits
  const context = words[limits.context_is_known ? 'context' : 'assumed']
  return (
    <div className="flex flex-col gap-2 text-sm" data-numbers>
      <div role="status">
        {overLimits({ task, text }, limits).map(({ kind, n }) => (
          <p key={kind} className="text-warn">
            {kind === 'in_parts' ? words.in_parts(n) : words[kind](say(n))}
          </p>
        ))}
      </div>
      <details>
        <summary className="w-fit rounded-control text-muted hover:text-fg">{words.title}</summary>
        <ul className="mt-1 list-disc pl-5 text-muted">
          <li>{words.task(say(task_characters))}</li>
          <li>{words.text(say(whole_text_characters), say(part_characters * parts))}</li>
          <li>{words.mails(say(limits.mails))}</li>
          <li>{context(say(limits.context_tokens))}</li>
        </ul>
        <p className="mt-1 text-muted">{words.told}</p>
      </details>
    </div>
  )
}
