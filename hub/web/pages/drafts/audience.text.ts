import { plural, texts } from '../../i18n.ts'

/** Choosing other people for a draft. */
export const audienceText = texts(
  {
    other_lead: 'Choose another lead',
    other_people: 'Choose other people',
    text_stays: 'What the letter says stays: check that it fits its new reader.',
    find_lead: 'Find a lead',
    search: 'Search',
    search_hint: 'Name, company or e-mail.',
    none_found: 'No lead matches.',
    no_email: 'no e-mail',
    any_tag: 'Every tag',
    country: 'Country',
    any_country: 'Every country',
    only_chosen: (n: number) =>
      plural('en', n, { one: 'Only the # chosen lead', other: 'Only the # chosen leads' }),
    get_it: (n: number, total: number) =>
      n === total
        ? plural('en', n, { one: '# person gets it', other: '# people get it' })
        : `${n} of ${plural('en', total, { one: '# person gets it', other: '# people get it' })}`,
  },
  {
    other_lead: 'Başka bir aday seç',
    other_people: 'Başka bir kitle seç',
    text_stays: 'Mektubun metni aynı kalır: yeni okuruna uyup uymadığına bakın.',
    find_lead: 'Aday bul',
    search: 'Ara',
    search_hint: 'Ad, şirket ya da e-posta.',
    none_found: 'Eşleşen aday yok.',
    no_email: 'e-posta yok',
    any_tag: 'Tüm etiketler',
    country: 'Ülke',
    any_country: 'Tüm ülkeler',
    only_chosen: (n) => plural('tr', n, { other: 'Yalnızca seçilen # aday' }),
    get_it: (n, total) =>
      n === total
        ? plural('tr', n, { other: '# kişi alacak' })
        : `${plural('tr', total, { other: '# kişiden' })} ${n} kişi alacak`,
  },
)
