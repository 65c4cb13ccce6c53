const FOLDED: Record<string, string> = { ı: 'i', ß: 'ss', ø: 'o', æ: 'ae', đ: 'd', ł: 'l' }

/** The short name a project's name suggests: "Öz Demir Lojistik A.Ş." is `oz-demir-lojistik-a-s`. */
export function slugFrom(name: string): string {
  return name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ıßøæđł]/g, (letter) => FOLDED[letter] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 41)
    .replace(/-+$/, '')
}

/** What people type for a website, as an address; nothing is null. */
export function websiteFrom(typed: string | undefined): string | null {
  if (!typed) return null
  return /^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`
}
