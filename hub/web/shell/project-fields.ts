const FOLDED: Record<string, string> = { ı: 'i', ß: 'ss', ø: 'o', æ: 'ae', đ: 'd', ł: 'l' }

/** Suggests a short name: "Öz Demir Lojistik A.Ş." becomes `oz-demir-lojistik-a-s`. */
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

/** Turns what people type for a website into an address; nothing becomes null. */
export function websiteFrom(typed: string | undefined): string | null {
  if (!typed) return null
  return /^[a-z][a-z0-9+.-]*:/i.test(typed) ? typed : `https://${typed}`
}

/** What mails are written from; the agents ask for what is missing. */
export const WRITING = ['value_proposition', 'proof_points', 'offers', 'tone'] as const

/** Characters that the hub takes for each text of a project. */
export const LIMITS = {
  description: 500,
  icp: 4000,
  value_proposition: 4000,
  proof_points: 4000,
  offers: 4000,
  tone: 2000,
} as const
