import { verbatim, type Words } from '../../i18n/words.ts'

/** What facts are called, for people: models get the label, which is the key. */
export const FACT_NAMES: Record<string, Words> = {
  'pasted text': { en: 'pasted text', tr: 'yapıştırılan metin' },
  'the task': { en: 'the task', tr: 'görevin metni' },
  'your earlier result': { en: 'the earlier result', tr: 'önceki sonuç' },
  lead: { en: 'the lead', tr: 'aday' },
  evidence: { en: 'the evidence', tr: 'kanıtlar' },
  'what was said so far, newest first': {
    en: 'what was said so far',
    tr: 'şimdiye kadar konuşulanlar',
  },
  'sentences without support': { en: 'sentences without support', tr: 'dayanağı olmayan cümleler' },
  subject: { en: 'the subject', tr: 'konu satırı' },
  letter: { en: 'the text of the mail', tr: 'e-postanın metni' },
  'search results': { en: 'the search results', tr: 'arama sonuçları' },
  'first rows': { en: 'the first rows', tr: 'ilk satırlar' },
  KPIs: { en: 'the KPIs', tr: 'göstergeler' },
  'the last 7 days, and the 7 days before': {
    en: 'the last 7 days, and the 7 days before',
    tr: 'son 7 gün ve ondan önceki 7 gün',
  },
  'mails of four weeks and what came back': {
    en: 'mails of four weeks and what came back',
    tr: 'dört haftanın e-postaları ve gelen yanıtlar',
  },
  'what people changed in drafts': {
    en: 'what people changed in drafts',
    tr: 'taslaklarda değiştirilenler',
  },
  'missions that failed': { en: 'missions that failed', tr: 'başarısız görevler' },
  'drafts that were rejected': { en: 'drafts that were rejected', tr: 'reddedilen taslaklar' },
  'the query that failed': { en: 'the query that failed', tr: 'hata veren sorgu' },
  files: { en: 'the names of the files', tr: 'dosya adları' },
  'what is wanted': { en: 'what is wanted', tr: 'istenen değişiklik' },
  measured: { en: 'the measured numbers', tr: 'ölçülen değerler' },
  'what is out of range': { en: 'what is out of range', tr: 'sınırın dışındaki değerler' },
  alert: { en: 'the alert', tr: 'uyarı' },
}
const BY_TURKISH = new Map(Object.values(FACT_NAMES).map((name) => [name.tr, name]))

const PART = /^(.+), (?:part (\d+) of (\d+))$/u
const POINTS = /^points of (.+)$/u
const MAIL = /^mail (\d+) of this sequence$/u

/** factName says in both languages what a fact is; a file is called by its path. */
export function factName(label: string): Words {
  const part = PART.exec(label)
  if (part) {
    const { en, tr } = factName(part[1] ?? '')
    return {
      en: `${en}, part ${part[2]} of ${part[3]}`,
      tr: `${tr}, ${part[3]} bölümün ${part[2]}. bölümü`,
    }
  }
  const points = POINTS.exec(label)
  if (points) {
    const { en, tr } = factName(points[1] ?? '')
    return { en: `points of ${en}`, tr: `${tr}: özetin noktaları` }
  }
  const mail = MAIL.exec(label)
  if (mail) return { en: label, tr: `bu dizinin ${mail[1]}. e-postası` }
  const known = Object.hasOwn(FACT_NAMES, label) ? FACT_NAMES[label] : undefined
  return known ?? BY_TURKISH.get(label) ?? verbatim(label)
}
