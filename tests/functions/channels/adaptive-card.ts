import { expect } from 'vitest'
import { z } from 'zod'
import { expectWhole } from './provider.ts'

/** What Adaptive Cards 1.4 accept of the elements in use, by their published schema. */
const Spacing = z.enum(['None', 'Small', 'Medium']).optional()
const Run = z.strictObject({
  type: z.literal('TextRun'),
  text: z.string().min(1),
  size: z.enum(['Small', 'Large']).optional(),
  weight: z.enum(['Bolder']).optional(),
  isSubtle: z.boolean().optional(),
})
const RichTextBlock = z.strictObject({
  type: z.literal('RichTextBlock'),
  inlines: z.array(Run).min(1),
  spacing: Spacing,
})
const TextBlock = z.strictObject({
  type: z.literal('TextBlock'),
  text: z.string().min(1),
  wrap: z.boolean(),
  spacing: Spacing,
})
const Container = z.strictObject({
  type: z.literal('Container'),
  items: z.array(z.union([RichTextBlock, TextBlock])).min(1),
  style: z.enum(['default', 'accent', 'good', 'warning', 'attention']).optional(),
  bleed: z.boolean().optional(),
  separator: z.boolean().optional(),
  spacing: Spacing,
})
const Content = z.strictObject({
  $schema: z.literal('http://adaptivecards.io/schemas/adaptive-card.json'),
  type: z.literal('AdaptiveCard'),
  version: z.literal('1.4'),
  lang: z.enum(['en', 'tr']),
  msteams: z.strictObject({ width: z.literal('Full') }),
  body: z.array(z.union([RichTextBlock, Container])).min(1),
  actions: z
    .array(
      z.strictObject({
        type: z.literal('Action.OpenUrl'),
        title: z.string().min(1),
        url: z.url({ protocol: /^https?$/ }),
      }),
    )
    // Teams hides more behind a menu.
    .max(6)
    .optional(),
})
const Body = z.strictObject({
  type: z.literal('message'),
  attachments: z.tuple([
    z.strictObject({
      contentType: z.literal('application/vnd.microsoft.card.adaptive'),
      contentUrl: z.null(),
      content: Content,
    }),
  ]),
})
export type Content = z.infer<typeof Content>

/** The card in a body that a workflow posts; fails for every other. */
export function cardIn(body: string): Content {
  expectWhole(body)
  expect(Buffer.byteLength(body)).toBeLessThan(21_000)
  return Body.parse(JSON.parse(body)).attachments[0].content
}

const linesOf = ({ body }: Content) =>
  body.flatMap((element) => (element.type === 'Container' ? element.items : [element]))
export const plainIn = (content: Content) =>
  linesOf(content).flatMap((line) =>
    line.type === 'RichTextBlock' ? [line.inlines.map(({ text }) => text).join('')] : [],
  )
export const markdownIn = (content: Content) =>
  linesOf(content).flatMap((line) => (line.type === 'TextBlock' ? [line.text] : []))
