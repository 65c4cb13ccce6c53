import { Link } from 'wouter'
import { number, useLanguage, useText } from '../../../../web/ui/language.ts'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import type { Schemas } from '../../api/client.ts'
import { useProject } from '../../project.ts'
import { SequenceState } from '../sequences/sequence-state.tsx'
import { sequencesText } from '../sequences/sequences.text.ts'
import { Card } from './card.tsx'
import { numbersText } from './numbers.text.ts'

type One = Schemas['Numbers']['sequences'][number]
const WHY = ['replied', 'bounced', 'opted_out', 'stage', 'others'] as const

/** What became of each sequence: its recipients, why they left, and the mails of each step. */
export function SequenceNumbers({ sequences }: { sequences: One[] }) {
  const text = useText(numbersText).sequences
  const words = useText(sequencesText)
  const { slug } = useProject()
  const language = useLanguage()
  const say = (count: number) => number(language, count)
  const columns = [text.recipients, words.active, words.done, words.stopped, text.replied]
  return (
    <Card title={text.title} isWide>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard */}
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
            {sequences.map(({ id, name, state, people, stopped, sent, replied }) => (
              <tr key={id} className="align-top">
                <Td className="pl-5">
                  <Link
                    href={`/p/${slug}/sequences?sequence=${id}`}
                    className="mr-2 text-accent-text hover:underline"
                  >
                    {name}
                  </Link>
                  <SequenceState state={state} />
                </Td>
                <Td className="text-right">
                  {say(people.active + people.done + people.stopped)}
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
            ))}
          </tbody>
        </Table>
      </section>
      <p className="mt-2 text-sm text-muted text-pretty">{text.hint}</p>
    </Card>
  )
}
