import { expect, test } from 'vitest'
import { exclusionIn } from '../../../../hub/agents/recipients/exclusion.ts'
import { tokensOf } from '../../../../hub/agents/recipients/tokens.ts'

/** What a task leaves out, where it names whoever stands between square brackets. */
function leftOut(task: string): string | undefined {
  const { tokens } = tokensOf(task.replace(/[[\]]/g, ''))
  const spans = [...task.matchAll(/\[([^\]]+)\]/g)].map(({ index, 1: name = '' }) => {
    const from = tokensOf(task.slice(0, index).replace(/[[\]]/g, '')).tokens.length
    return { from, to: from + tokensOf(name).tokens.length }
  })
  return exclusionIn(tokens, spans)
}

test.each([
  ['Write to all leads except for Can', 'except for can'],
  ['Write to [Ali] but not Can', 'but not can'],
  ['Write to [Ali], other than Can', 'other than can'],
  ['Write to all leads except [Can]', 'except can'],
  ['[Can] hariç hepsine yaz', 'can haric'],
  ['[Can] dışındakilere yaz', 'can disindakilere'],
  ["[Can]'ı katma", "Can'ı katma"],
  ["[Can]'ı ekleme", "Can'ı ekleme"],
  ["[Can]'ı eklemeyelim", "Can'ı eklemeyelim"],
  ["[Can]'ı çıkar", "Can'ı çıkar"],
  ["[Can]'ı atla", "Can'ı atla"],
  ["[Can]'a mail göndermeyelim", "Can'a mail göndermeyelim"],
  ['Dont mail [Can]', 'Dont mail Can'],
  ['Write to the leads without [Can Demir]', 'without Can Demir'],
  ['Avoid writing to the [Can Demir]', 'Avoid writing to the Can Demir'],
  ['Skip all of the leads [Can]', 'Skip all of the leads Can'],
  ['Write to [Ali] and leave [Can Demir] out', 'leave Can Demir'],
  ['[Can] bey değil', 'Can bey değil'],
  ['[Can] bey bir mail atla', 'Can bey bir mail atla'],
  ["[Can]'a yazma", "Can'a yazma"],
  ["[Can]'dan başka kimse", "Can'dan başka"],
  ['Sakın [Can] için bekle', 'Sakın Can için'],
  ['[Can]: never write anything', 'never write anything'],
  ["Don't ever mail [Can]", "Don't ever mail Can"],
  ['do not ever mail [Can]', 'not ever mail Can'],
  ['[Can] is busy, so do not contact him', 'not contact him'],
])('%s: leaves out “%s”', (task, words) => {
  expect(leftOut(task)).toBe(words)
})

test.each([
  'Write to [Can]',
  'Something except for tea',
  // Too far before the name to be about it.
  'Skip all of the those leads [Can]',
  // The word is part of a name.
  'Write to [Minus] [Can]',
  'Write to [Sakin Demir]',
  "[Can]'a yaz, başka",
  'Write to [Can] who did not write',
  'Write to [Can], we never mail',
  '[Can] bey bir mail bunu atla',
  'Do not hurry, mail [Can]',
])('%s: leaves out nobody', (task) => {
  expect(leftOut(task)).toBeUndefined()
})
