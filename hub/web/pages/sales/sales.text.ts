import { plural, texts } from '../../i18n.ts'

export const salesText = texts(
  {
    title: 'Sales',
    board: 'Sales board',
    empty: {
      title: 'The board is empty',
      text: 'Leads appear here by their stage. Drag one to the next stage when something happened.',
    },
    column: (stage: string, n: number) =>
      plural('en', n, { one: `${stage}: # lead`, other: `${stage}: # leads` }),
    nobody: 'Nobody here',
    open_tasks: (n: number) => plural('en', n, { one: '# open task', other: '# open tasks' }),
    hint: 'Space picks up, arrow keys move, Space puts down, Esc puts back.',
    held: (name: string, stage: string) => `${name} picked up, over ${stage}`,
    put: (name: string, stage: string) => `${name} is ${stage} now`,
    put_back: (name: string) => `${name} was put back`,
  },
  {
    title: 'Satış',
    board: 'Satış panosu',
    empty: {
      title: 'Pano boş',
      text: 'Adaylar burada aşamalarına göre görünür. Bir gelişme olunca sonraki aşamaya sürükleyin.',
    },
    column: (stage, n) => plural('tr', n, { other: `${stage}: # aday` }),
    nobody: 'Burada kimse yok',
    open_tasks: (n) => plural('tr', n, { other: '# açık iş' }),
    hint: 'Boşluk alır, oklar taşır, Boşluk bırakır, Esc geri koyar.',
    held: (name, stage) => `${name} alındı, üzerinde: ${stage}`,
    put: (name, stage) => `${name} taşındı: ${stage}`,
    put_back: (name) => `${name} geri kondu`,
  },
)
