import { texts } from '../../../../shared/words/texts.ts'
import { plural } from '../../../../web/ui/language.ts'

/** Whom a mission is for, before it is started. */
export const recipientsText = texts(
  {
    title: 'For whom',
    count: (n: number) => plural('en', n, { one: 'For # lead', other: 'For # leads' }),
    unclear: 'For whom? Choose before it starts.',
    more: (n: number) => `and ${n} more`,
    remove: (name: string) => `Remove ${name}`,
    add: (name: string) => `Add ${name}`,
    change: 'Change',
    back: 'As the text says',
    find: 'Find a lead to add',
    none_found: 'No lead was found.',
    chosen: 'chosen by you',
  },
  {
    title: 'Kimin için',
    count: (n) => plural('tr', n, { other: '# aday için' }),
    unclear: 'Kimin için? Başlamadan seçin.',
    more: (n) => `ve ${n} kişi daha`,
    remove: (name) => `Çıkar: ${name}`,
    add: (name) => `Ekle: ${name}`,
    change: 'Değiştir',
    back: 'Metindeki gibi',
    find: 'Eklenecek adayı bulun',
    none_found: 'Aday bulunamadı.',
    chosen: 'siz seçtiniz',
  },
)
