import { texts } from '../../shared/texts.ts'
import type { Problem } from './client.ts'

/**
 * Why the service refused something, in the reader's language. The service answers in English; where its sentence says more
 * than its code, it is quoted.
 */
export const refusalsText = texts(
  {
    detail: ({ detail }: { code: string; detail: string }) => detail,
    message: (message: string) => message,
  },
  {
    detail: ({ code, detail }) => {
      const said = new Map(Object.entries(CODES)).get(code)
      if (!said) return detail
      return said.is_all ? said.words : `${said.words} Hizmetin yanıtı: “${detail}”`
    },
    message: (message) => {
      for (const [form, said] of MESSAGES) {
        const match = form.exec(message)
        if (match) return said(...match.slice(1))
      }
      return message
    },
  },
)

/** What each code means; is_all: the English sentence adds nothing. */
const CODES: Record<Problem['code'], { words: string; is_all?: true }> = {
  malformed: { words: 'İstek okunamadı.' },
  invalid_query: { words: 'Adresteki bir değer geçersiz.' },
  invalid_cursor: {
    words: 'Bu sayfa artık gösterilemiyor. Listeyi baştan açın.',
    is_all: true,
  },
  unauthenticated: { words: 'Oturumunuz sona erdi. Yeniden giriş yapın.', is_all: true },
  plan_required: { words: 'Bu, daha yüksek bir plan gerektiriyor.' },
  insufficient_scope: { words: 'Bu anahtarın bunun için yetkisi yok.' },
  forbidden: { words: 'Bunun için yetkiniz yok.' },
  second_factor_required: {
    words: 'Bunun için iki adımlı doğrulamayla giriş yapmanız gerekiyor.',
    is_all: true,
  },
  not_found: { words: 'Bulunamadı. Silinmiş olabilir ya da size açık değil.', is_all: true },
  method_not_allowed: { words: 'Hizmet bu işlemi bilmiyor.' },
  not_acceptable: { words: 'Hizmet istenen biçimde yanıt veremiyor.' },
  conflict: { words: 'Bu, şu anki durumla çelişiyor.' },
  limit_reached: { words: 'Bir sınıra ulaşıldı.' },
  nothing_to_send: { words: 'Gönderilecek bir şey yok.' },
  owner_protected: { words: 'Son sahip çıkarılamaz ve rolü değiştirilemez.' },
  idempotency_in_flight: {
    words: 'Aynı istek hâlâ işleniyor. Birazdan yeniden deneyin.',
    is_all: true,
  },
  cursor_expired: { words: 'Bu liste eskidi. Sayfayı yeniden yükleyin.', is_all: true },
  version_mismatch: {
    words: 'Bu arada başka biri bunu değiştirdi. Yeniden yükleyip tekrar deneyin.',
    is_all: true,
  },
  too_large: { words: 'İstek çok büyük.' },
  unsupported_media_type: { words: 'Hizmet bu dosya biçimini kabul etmiyor.' },
  invalid: { words: 'Bazı değerler geçersiz.' },
  idempotency_mismatch: { words: 'Aynı kimlikle başka bir istek gönderilmişti.' },
  too_much_work: {
    words: 'Bu hesap için çok fazla veri var. Daha küçük bir alan ya da süre seçin.',
  },
  rate_limited: { words: 'Çok sık istek gönderildi. Birazdan yeniden deneyin.', is_all: true },
  internal: { words: 'Hizmette bir hata oluştu. Birazdan yeniden deneyin.' },
  unavailable: { words: 'Hizmete şu anda ulaşılamıyor. Birazdan yeniden deneyin.' },
}

const KINDS: Record<string, string> = {
  'a text': 'metin',
  'a number': 'sayı',
  'a whole number': 'tam sayı',
  'true or false': 'doğru ya da yanlış',
  'a list': 'liste',
  'an object': 'nesne',
  null: 'boş (null)',
}
/** A number as it is written in Turkish. */
const inTurkish = (number: string) => number.replace('.', ',')
const BOUNDS: Record<string, (limit: string) => string> = {
  'at least': (limit) => `en az ${inTurkish(limit)}`,
  'at most': (limit) => `en çok ${inTurkish(limit)}`,
  'more than': (limit) => `${inTurkish(limit)} değerinden büyük`,
  'less than': (limit) => `${inTurkish(limit)} değerinden küçük`,
}
const capital = (text: string) => text.charAt(0).toLocaleUpperCase('tr') + text.slice(1)

/** The sentences of shared/issue-words.ts. */
const MESSAGES: [form: RegExp, said: (...parts: string[]) => string][] = [
  [/^Required\.$/, () => 'Zorunlu.'],
  [/^Must not be empty\.$/, () => 'Boş olamaz.'],
  [
    /^Must be a time in ISO 8601, as in (\S+)\.$/,
    (as) => `ISO 8601 biçiminde bir zaman olmalı, örneğin ${as}.`,
  ],
  [/^Must be a day, as in (\S+)\.$/, (as) => `Bir gün olmalı, örneğin ${as}.`],
  [/^Must be a UUID\.$/, () => 'Bir UUID olmalı.'],
  [/^Must be an e-mail address\.$/, () => 'Bir e-posta adresi olmalı.'],
  [/^Must be a URL, as in (\S+)\.$/, (as) => `Bir URL olmalı, örneğin ${as}.`],
  [
    /^Must be (at least|at most|more than|less than) (\S+)\.$/,
    (bound = '', limit = '') => `${capital(BOUNDS[bound]?.(limit) ?? '')} olmalı.`,
  ],
  [
    /^Must have (at least|at most|more than|less than) (\d+) (character|entr)\w*\.$/,
    (bound = '', limit = '', unit) => {
      const units = unit === 'character' ? 'karakter' : 'öğe'
      if (bound === 'more than') return `${limit} ${units} sayısından fazla olmalı.`
      if (bound === 'less than') return `${limit} ${units} sayısından az olmalı.`
      return `${capital(BOUNDS[bound]?.(limit) ?? '')} ${units} olmalı.`
    },
  ],
  [/^Must be a multiple of (\S+)\.$/, (of = '') => `${inTurkish(of)} sayısının katı olmalı.`],
  [/^Must be one of (.+)\.$/, (all) => `Şunlardan biri olmalı: ${all}.`],
  [
    new RegExp(`^Must be (${Object.keys(KINDS).join('|')})\\.$`),
    (kind = '') => `${capital(KINDS[kind] ?? '')} olmalı.`,
  ],
  [/^Must be (".*"|true|false|-?[\d.]+)\.$/, (value) => `${value} olmalı.`],
]
