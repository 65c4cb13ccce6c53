import type { ReactNode } from 'react'
import { cn } from '../../../../web/ui/class-names.ts'
import { useText } from '../../../../web/ui/language.ts'
import { Table, Td, Th } from '../../../../web/ui/lists/table.tsx'
import type { Sequence } from './queries.ts'
import { sequencesText } from './sequences.text.ts'

/**
 * Up to three steps stand beside each other where there is room; more of them, and all on a phone, stand
 * below the name, so that no table is wider than its place.
 */
const LAYOUTS = {
  few: {
    head: '@max-lg:hidden',
    row: '@max-lg:flex @max-lg:flex-wrap @max-lg:gap-x-4 @max-lg:gap-y-1 @max-lg:border-b @max-lg:border-line @max-lg:px-4 @max-lg:py-3',
    cell: '@max-lg:h-auto @max-lg:border-0 @max-lg:p-0',
    first: '@max-lg:basis-full',
    label: '@lg:hidden',
  },
  many: {
    head: '@max-5xl:hidden',
    row: '@max-5xl:flex @max-5xl:flex-wrap @max-5xl:gap-x-4 @max-5xl:gap-y-1 @max-5xl:border-b @max-5xl:border-line @max-5xl:px-4 @max-5xl:py-3',
    cell: '@max-5xl:h-auto @max-5xl:border-0 @max-5xl:p-0',
    first: '@max-5xl:basis-full',
    label: '@5xl:hidden',
  },
}
const layoutOf = ({ steps }: Sequence) => (steps.length > 3 ? LAYOUTS.many : LAYOUTS.few)

type Given = { sequence: Sequence }

/** A table of people, with a column for each step of the sequence. */
export function StepTable({
  sequence,
  head,
  children,
}: Given & { head: string; children: ReactNode }) {
  const text = useText(sequencesText)
  const layout = layoutOf(sequence)
  return (
    <div className="@container">
      <Table>
        <thead className={layout.head}>
          <tr>
            <Th className="pl-5">{head}</Th>
            {sequence.steps.map(({ id, step }) => (
              <Th key={id}>{text.step(step)}</Th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </Table>
    </div>
  )
}

export function StepRow({ sequence, children }: Given & { children: ReactNode }) {
  return <tr className={layoutOf(sequence).row}>{children}</tr>
}

/** A cell; the first of a row, and the one of a step, are arranged in their own way. */
export function StepCell({
  sequence,
  step,
  isFirst = false,
  colSpan,
  children,
}: Given & { step?: number; isFirst?: boolean; colSpan?: number; children: ReactNode }) {
  const text = useText(sequencesText)
  const layout = layoutOf(sequence)
  return (
    <Td
      colSpan={colSpan}
      className={cn(
        'py-1.5 align-top break-words',
        layout.cell,
        isFirst && `pl-5 ${layout.first}`,
        step !== undefined && 'text-sm',
      )}
    >
      {step === undefined ? null : (
        <span className={cn('mr-1.5 text-muted', layout.label)}>{text.step(step)}:</span>
      )}
      {children}
    </Td>
  )
}
