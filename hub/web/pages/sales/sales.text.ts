import { texts } from '../../../../shared/words/texts.ts'
import { plural } from '../../../../web/ui/language.ts'

export const salesText = texts(
  {
    title: 'Sales',
    board: 'Sales board',
    empty: {
      title: 'The board is empty',
      text: 'Leads appear here by stage. Drag a lead to its next stage when something happens.',
    },
    column: (stage: string, n: number) =>
      plural('en', n, { one: `${stage}: # lead`, other: `${stage}: # leads` }),
    nobody: 'No leads',
    open_tasks: (n: number) => plural('en', n, { one: '# open task', other: '# open tasks' }),
    hint: 'Press Space to pick a lead up, arrow keys to move it, Space to drop it, Esc to cancel.',
    held: (name: string, stage: string) => `${name} picked up, over ${stage}`,
    put: (name: string, stage: string) => `${name} moved to ${stage}`,
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
    nobody: 'Aday yok',
    open_tasks: (n) => plural('tr', n, { other: '# açık iş' }),
    hint: 'Adayı almak için Boşluk, taşımak için ok tuşları, bırakmak için Boşluk, vazgeçmek için Esc.',
    held: (name, stage) => `${name} alındı, üzerinde: ${stage}`,
    put: (name, stage) => `${name} taşındı: ${stage}`,
    put_back: (name) => `${name} geri kondu`,
  },
)
