import { type Card, signOf } from './card.ts'

/** A card as plain text, without its title: for services that know no markup. */
export function linesOf(card: Card, { hasLinks }: { hasLinks: boolean }): string {
  const blocks = [
    [card.heading, card.text],
    card.facts.map(({ name, value }) => `${name}: ${value}`),
    ...card.items.map((item) => [
      `${signOf(item)} ${item.title}`,
      item.line,
      item.reason,
      ...(hasLinks ? item.links.slice(0, 1).map(({ url }) => url) : []),
    ]),
    [card.footer],
  ]
  const texts = blocks.map((lines) => lines.filter((line) => line !== '').join('\n'))
  return texts.filter((text) => text !== '').join('\n\n')
}
