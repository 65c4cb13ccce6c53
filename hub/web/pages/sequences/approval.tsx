import { Check } from 'lucide-react'
import { Button } from '../../../../web/ui/button.tsx'
import { useKeys } from '../../../../web/ui/keys.ts'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { toast } from '../../../../web/ui/toast.tsx'
import { api, ok } from '../../api/client.ts'
import { Gates } from '../drafts/gates.tsx'
import { isProven } from '../drafts/queries.ts'
import { sentencesText } from '../drafts/sentences.text.ts'
import { type DetailedSequence, useChange } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

type Given = { detailed: DetailedSequence; isReadOnly: boolean }

/** Before the approval what it would do and what stands in its way; after it the numbers. */
export function Approval({ detailed, isReadOnly }: Given) {
  const isDraft = detailed.sequence.state === 'draft'
  return (
    <aside className="flex w-full shrink-0 flex-col gap-5 border-line p-4 max-xl:border-t md:p-5 xl:w-80 xl:overflow-y-auto xl:border-l">
      {detailed.sequence.started_at ? <Numbers detailed={detailed} /> : null}
      {isDraft ? (
        <>
          <Approve detailed={detailed} isReadOnly={isReadOnly} />
          <Unproven detailed={detailed} isReadOnly={isReadOnly} />
          <Gates gates={detailed.gates} />
        </>
      ) : null}
    </aside>
  )
}

/** How many checks keep a sequence from being approved. */
export const shutGates = ({ gates }: DetailedSequence) =>
  gates.filter(({ ok, blocks }) => blocks && !ok).length

/** What approving a sequence would do, and the button that does it; `a` presses it where `onDone` is given. */
export function Approve({ detailed, isReadOnly, onDone }: Given & { onDone?: () => void }) {
  const text = useText(sequencesText)
  const { sequence, hash, recipients, what_happens } = detailed
  const shut = shutGates(detailed)
  const approve = useChange(
    sequence,
    (ref) => ok(api.POST('/api/cockpit/sequence/approve', { body: { ...ref, hash } })),
    () => {
      toast(text.approved)
      onDone?.()
    },
  )
  const canApprove = !isReadOnly && shut === 0 && !approve.isPending
  useKeys({ a: onDone && canApprove ? () => approve.mutate() : undefined })
  return (
    <section aria-label={text.approve(recipients.will_get_it)} className="flex flex-col gap-2">
      <p className="text-pretty">{what_happens ?? text.nobody}</p>
      <Button
        variant="primary"
        size="lg"
        className="h-auto! min-h-10 w-full py-2 whitespace-normal! text-center"
        icon={<Check size={16} aria-hidden />}
        disabled={!canApprove}
        isPending={approve.isPending}
        onClick={() => approve.mutate()}
      >
        {text.approve(recipients.will_get_it)}
      </Button>
      {shut > 0 ? <p className="text-center text-sm text-bad">{text.shut(shut)}</p> : null}
      {recipients.left_out.length > 0 ? (
        <ul className="text-sm text-muted">
          {recipients.left_out.map(({ reason, count }) => (
            <li key={reason}>{`${text.left_out}: ${count} ${reason}`}</li>
          ))}
        </ul>
      ) : null}
    </section>
  )
}

/** Sentences without evidence, each with what a person can do about it. */
export function Unproven({ detailed, isReadOnly }: Given) {
  const text = useText(sequencesText)
  const words = useText(sentencesText)
  const { sequence, sentences } = detailed
  const stand = useChange<{ step_id: string; sentence: string; stands: boolean }>(
    sequence,
    (ref, given) => ok(api.POST('/api/cockpit/sequence/stand', { body: { ...ref, ...given } })),
  )
  const shown = sentences.flatMap(({ step_id, sentences }, at) =>
    sentences
      .filter((one) => one.stand !== null || !isProven(one))
      .map((one) => ({ ...one, step_id, step: at + 1 })),
  )
  if (shown.length === 0) return null
  const open = shown.filter((one) => !isProven(one)).length
  return (
    <section aria-labelledby="unproven" className="flex flex-col gap-2">
      <h3 id="unproven" className="text-sm text-muted">
        {open > 0 ? text.unproven(open) : words.sentences}
      </h3>
      <ul className="flex flex-col gap-2">
        {shown.map((one) => (
          <li
            key={`${one.step_id} ${one.sentence}`}
            className={`rounded-panel border p-3 ${one.stand ? 'border-line' : 'border-bad/50'}`}
          >
            <p className="text-sm text-muted">{text.step(one.step)}</p>
            <p lang={sequence.language} className="font-mail break-words">
              {one.sentence}
            </p>
            <p className="mt-1 text-sm text-muted">
              {words.verdicts[one.verdict]}
              {one.fails > 0
                ? ` ${words.fails(one.fails_for.map(({ name }) => name).join(', '), one.fails)}`
                : null}
            </p>
            {isReadOnly ? null : (
              <Button
                size="sm"
                className="mt-2"
                isPending={stand.isPending}
                onClick={() =>
                  stand.mutate({
                    step_id: one.step_id,
                    sentence: one.sentence,
                    stands: !one.stand,
                  })
                }
              >
                {one.stand ? text.withdraw : text.stand}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** What became of the recipients, and of the mails of each step. */
function Numbers({ detailed: { sequence } }: { detailed: DetailedSequence }) {
  const text = useText(sequencesText)
  const language = useLanguage()
  const { people, stopped, steps } = sequence
  const why = Object.entries(text.why) as [keyof typeof stopped, string][] // safe: the same keys
  const row = (label: string, count: number) => (
    <div key={label} className="flex justify-between gap-3">
      <dt className="text-muted">{label}</dt>
      <dd data-numbers>{number(language, count)}</dd>
    </div>
  )
  return (
    <section aria-labelledby="numbers" className="flex flex-col gap-3">
      <h3 id="numbers" className="text-sm text-muted">
        {text.numbers}
      </h3>
      <dl className="flex flex-col gap-1">
        {row(text.active, people.active)}
        {row(text.done, people.done)}
        {row(text.stopped, people.stopped)}
        {why.map(([name, label]) => (stopped[name] > 0 ? row(`– ${label}`, stopped[name]) : null))}
        {people.left_out > 0 ? row(text.left_out, people.left_out) : null}
      </dl>
      {steps.map(({ id, step, mails }) => (
        <dl key={id} className="flex flex-col gap-1">
          <dt className="font-medium">{text.step(step)}</dt>
          {(['sent', 'waiting', 'unclear', 'failed', 'replied', 'bounced'] as const).map((name) =>
            mails[name] > 0 ? row(text.mails[name], mails[name]) : null,
          )}
        </dl>
      ))}
    </section>
  )
}
