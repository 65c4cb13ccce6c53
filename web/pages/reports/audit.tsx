import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { Download, ScrollText } from 'lucide-react'
import { type Act, accountQuery, allActs, auditQuery } from '../../api/queries.ts'
import { FailedQuery, hasFailed, useToastError } from '../../shared/errors.tsx'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { saveFile } from '../../ui/file.ts'
import { number, useLanguage, useText } from '../../ui/language.ts'
import { More } from '../../ui/lists/more.tsx'
import { Select } from '../../ui/select.tsx'
import { Empty, SkeletonRows } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { actsText, wordsOfAct } from './acts.text.ts'
import { csvOf } from './csv.ts'
import { Period, useChoice, usePeriod } from './period.tsx'
import { reportsText } from './reports.text.ts'

type Filter = { kind: string; outcome: string }

const passes = ({ kind, outcome }: Filter, act: Act) =>
  (kind === '' || act.target_type === kind) && (outcome === '' || act.outcome === outcome)

/** What was done by the caller, and by others to what the caller owns. */
export function Audit() {
  const text = useText(reportsText)
  const [days, setDays] = usePeriod()
  const [kind, setKind] = useChoice('kind')
  const [outcome, setOutcome] = useChoice('outcome')
  const filter = { kind, outcome }
  const found = useInfiniteQuery(auditQuery(days))
  const me = useQuery(accountQuery).data?.account.user_id
  const acts = found.data?.pages.flatMap((page) => page.audit) ?? []
  const shown = acts.filter((act) => passes(filter, act))
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Period days={days} onDays={setDays} />
        <Select
          aria-label={text.kind}
          value={kind}
          onChange={({ target }) => setKind(target.value)}
          options={[
            { value: '', label: text.all_kinds },
            ...Object.entries(text.kinds).map(([value, label]) => ({ value, label })),
          ]}
        />
        <Select
          aria-label={text.outcome}
          value={outcome}
          onChange={({ target }) => setOutcome(target.value)}
          options={[
            { value: '', label: text.any_outcome },
            { value: 'success', label: text.outcomes.success },
            { value: 'failure', label: text.outcomes.failure },
          ]}
        />
        <Export days={days} filter={filter} />
      </div>
      {found.isPending ? <SkeletonRows /> : null}
      {hasFailed(found) ? (
        <FailedQuery error={found.error} onRetry={() => found.refetch()} />
      ) : null}
      {found.data && shown.length === 0 && !found.hasNextPage ? (
        <Empty
          picture={<ScrollText size={24} strokeWidth={1.5} aria-hidden />}
          title={text.audit_none}
          text={text.audit_none_text}
        />
      ) : null}
      <ul>
        {shown.map((act) => (
          <ActLine key={act.id} act={act} me={me} />
        ))}
      </ul>
      <More query={found} className="p-0" />
    </div>
  )
}

function ActLine({ act, me }: { act: Act; me: string | undefined }) {
  const text = useText(reportsText)
  const words = wordsOfAct(act.action, useText(actsText))
  const label = typeof act.details.label === 'string' ? act.details.label : undefined
  const who = act.actor_id === null ? text.service : act.actor_id === me ? text.you : text.other
  return (
    <li className="border-t border-line">
      <details>
        <summary className="flex flex-wrap items-center gap-x-3 gap-y-1 py-2 text-sm">
          <Badge tone={act.outcome === 'success' ? 'good' : 'bad'}>
            {text.outcomes[act.outcome]}
          </Badge>
          <span className="min-w-0 font-medium break-words">
            {words ? (
              <>
                {words[0]} {words[1]}
              </>
            ) : (
              act.action
            )}
            {label ? <>: {label}</> : null}
          </span>
          <span className="flex min-w-0 grow justify-between gap-3 text-muted max-md:basis-full">
            <span className="min-w-0">
              {who}
              {act.key_id ? ` ${text.with_key}` : ''}
            </span>
            <Time at={act.at} className="shrink-0" />
          </span>
        </summary>
        <div className="flex flex-col gap-1 pb-3 pl-2 text-sm text-muted">
          {act.ip ? <p>{text.from(act.ip)}</p> : null}
          <pre className="max-h-60 overflow-auto whitespace-pre-wrap break-words rounded-control border border-line bg-surface p-2 text-xs">
            <code>{JSON.stringify(act, null, 2)}</code>
          </pre>
        </div>
      </details>
    </li>
  )
}

/** All rows of the period that pass the filter, not only those that are shown. */
function Export({ days, filter }: { days: number; filter: Filter }) {
  const text = useText(reportsText)
  const language = useLanguage()
  const save = useMutation({
    mutationFn: async (form: 'csv' | 'json') => {
      const acts = (await allActs(days)).filter((act) => passes(filter, act))
      if (form === 'csv') saveFile('watchpost-audit.csv', csvOf(acts), 'text/csv')
      else saveFile('watchpost-audit.json', JSON.stringify(acts, null, 2), 'application/json')
      return acts.length
    },
    onSuccess: (rows) => toast(text.exporting(number(language, rows))),
    onError: useToastError(),
  })
  return (
    <div className="flex flex-wrap gap-2 md:ml-auto">
      {(['csv', 'json'] as const).map((form) => (
        <Button
          key={form}
          isPending={save.isPending && save.variables === form}
          onClick={() => save.mutate(form)}
          icon={<Download size={14} aria-hidden />}
        >
          {form === 'csv' ? text.export_csv : text.export_json}
        </Button>
      ))}
    </div>
  )
}
