import { Link } from 'wouter'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { useIsPhone } from '../../../../web/ui/layer.tsx'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import type { Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { SequenceState } from '../sequences/sequence-state.tsx'
import { sequencesText } from '../sequences/sequences.text.ts'
import { Card } from './card.tsx'
import { Figures } from './figures.tsx'
import { numbersText } from './numbers.text.ts'

type One = Schemas['Numbers']['sequences'][number]
const WHY = ['replied', 'bounced', 'opted_out', 'stage', 'others'] as const

type Given = { sequences: One[] }

/** What became of each sequence: its recipients, why they left, and the mails of each step. */
export function SequenceNumbers({ sequences }: Given) {
  const text = useText(numbersText).sequences
  const isPhone = useIsPhone()
  return (
    <Card title={text.title} isWide>
      {isPhone ? <SequenceList sequences={sequences} /> : <SequenceTable sequences={sequences} />}
      <p className="mt-2 text-sm text-muted text-pretty">{text.hint}</p>
    </Card>
  )
}

/** The name of a sequence, which leads to it, and its state. */
function Name({ sequence: { id, name, state } }: { sequence: One }) {
  const { slug } = useProject()
  return (
    <>
      <Link
        href={`/p/${slug}/sequences?sequence=${id}`}
        className="mr-2 break-words text-accent-text hover:underline"
      >
        {name}
      </Link>
      <SequenceState state={state} />
    </>
  )
}

const everybody = ({ people }: One) => people.active + people.done + people.stopped

function SequenceTable({ sequences }: Given) {
  const text = useText(numbersText).sequences
  const words = useText(sequencesText)
  const language = useLanguage()
  const say = (count: number) => number(language, count)
  const columns = [text.recipients, words.active, words.done, words.stopped, text.replied]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard
    <section aria-label={text.title} tabIndex={0} className="-mx-5 overflow-x-auto">
      <Table aria-label={text.title}>
        <thead>
          <tr>
            <Th className="bg-surface pl-5">{text.sequence}</Th>
            {columns.map((name) => (
              <Th key={name} className="bg-surface text-right">
                {name}
              </Th>
            ))}
            <Th className="bg-surface pr-5">{text.sent}</Th>
          </tr>
        </thead>
        <tbody data-numbers>
          {sequences.map((one) => {
            const { id, people, stopped, sent, replied } = one
            return (
              <tr key={id} className="align-top">
                <Td className="pl-5">
                  <Name sequence={one} />
                </Td>
                <Td className="text-right">
                  {say(everybody(one))}
                  {people.left_out > 0 ? (
                    <span className="block text-sm text-muted whitespace-nowrap">
                      {text.left_out(say(people.left_out))}
                    </span>
                  ) : null}
                </Td>
                <Td className="text-right">{say(people.active)}</Td>
                <Td className="text-right">{say(people.done)}</Td>
                <Td className="text-right">
                  {say(people.stopped)}
                  {WHY.map((why) =>
                    stopped[why] > 0 ? (
                      <span key={why} className="block text-sm text-muted whitespace-nowrap">
                        {`${words.why[why]}: ${say(stopped[why])}`}
                      </span>
                    ) : null,
                  )}
                </Td>
                <Td className="text-right">{say(replied)}</Td>
                <Td className="pr-5">
                  {sent.map((count, at) => (
                    <span key={at} className="block whitespace-nowrap">
                      {`${words.step(at + 1)}: ${say(count)}`}
                    </span>
                  ))}
                </Td>
              </tr>
            )
          })}
        </tbody>
      </Table>
    </section>
  )
}

/** The same for a phone, where seven columns would not fit. */
function SequenceList({ sequences }: Given) {
  const text = useText(numbersText).sequences
  const words = useText(sequencesText)
  const language = useLanguage()
  const say = (count: number) => number(language, count)
  return (
    <ul aria-label={text.title} data-numbers>
      {sequences.map((one) => {
        const { id, people, stopped, sent, replied } = one
        const out = people.left_out > 0 ? [text.left_out(say(people.left_out))] : []
        const reasons = WHY.filter((why) => stopped[why] > 0)
        return (
          <li
            key={id}
            className="flex flex-col gap-1 border-line py-3 first:pt-0 not-last:border-b"
          >
            <div>
              <Name sequence={one} />
            </div>
            <Figures
              figures={[
                [text.recipients, withParts(say(everybody(one)), out)],
                [words.active, say(people.active)],
                [words.done, say(people.done)],
                [
                  words.stopped,
                  withParts(
                    say(people.stopped),
                    reasons.map((why) => `${words.why[why]}: ${say(stopped[why])}`),
                  ),
                ],
                [text.replied, say(replied)],
                [
                  text.sent,
                  sent.map((count, at) => `${words.step(at + 1)}: ${say(count)}`).join(', '),
                ],
              ]}
            />
          </li>
        )
      })}
    </ul>
  )
}

const withParts = (figure: string, parts: string[]) =>
  parts.length > 0 ? `${figure} (${parts.join(', ')})` : figure
