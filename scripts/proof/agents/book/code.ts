import type { Task } from '../task.ts'

const APP =
  'export function total(items) {\n  let sum = 0\n  for (const item of items) sum += item.price\n  return sum\n}\n'
const GREET = "export function greet(name) {\n  return 'Hello ' + name\n}\n"

export const engineer: Task[] = [
  {
    name: 'changes a function of a file',
    task: {
      en: 'In code/total.js multiply the price by the quantity of the item',
      tr: 'code/total.js dosyasında fiyatı ürünün adediyle (quantity) çarp',
    },
    given: { files: { 'code/total.js': APP } },
    wants: { patch: true, says: [['quantity']], numbers: 'free' },
  },
  {
    name: 'writes a new script',
    task: {
      en: 'Write a script code/count.js that counts the lines of a CSV file',
      tr: 'CSV dosyasının satırlarını sayan bir betik yaz: code/count.js',
    },
    wants: { patch: true, numbers: 'free' },
  },
  {
    name: 'changes a text',
    task: {
      en: 'Change the greeting in code/greet.js from Hello to Welcome',
      tr: 'code/greet.js içindeki Hello selamını Welcome yap',
    },
    given: { files: { 'code/greet.js': GREET } },
    wants: { patch: true, says: [['Welcome']], numbers: 'free' },
  },
  {
    name: 'mends what an empty list does',
    task: {
      en: 'code/total.js must return 0 when items is undefined: fix the bug',
      tr: 'code/total.js items tanımsızken 0 döndürmeli: hatayı düzelt',
    },
    given: { files: { 'code/total.js': APP } },
    wants: { patch: true, says: [['items']], numbers: 'free' },
  },
  {
    name: 'adds a function',
    task: {
      en: 'Add a function average(items) to code/total.js',
      tr: 'code/total.js dosyasına average(items) fonksiyonu ekle',
    },
    given: { files: { 'code/total.js': APP } },
    wants: { patch: true, says: [['average']], numbers: 'free' },
  },
]

export const engineer_system: Task[] = [
  {
    name: 'refuses while it is switched off',
    task: {
      en: 'Patch the hub: change the text of the sign-in page',
      tr: 'Hub’a yama yaz: giriş sayfasının metnini değiştir',
    },
    wants: { status: 'failed', says: [['off', 'kapalı']] },
  },
  ...[
    ['hub/hash.ts', 'add a comment to the first function', 'ilk fonksiyona bir yorum ekle'],
    [
      'hub/template.ts',
      'explain fillTemplate in a comment',
      'fillTemplate için açıklayan bir yorum ekle',
    ],
    [
      'hub/log.ts',
      'add a comment that says what is logged',
      'neyin kaydedildiğini söyleyen bir yorum ekle',
    ],
    ['hub/deps.ts', 'add a comment to the type Deps', 'Deps tipine bir yorum ekle'],
  ].map(
    ([file = '', en = '', tr = '']): Task => ({
      name: `a patch of ${file}`,
      task: { en: `In ${file} of the hub, ${en}`, tr: `Hub’ın ${file} dosyasında ${tr}` },
      settings: { engineer_system: true },
      wants: { patch: true, says: [[file]], numbers: 'free' },
    }),
  ),
]
