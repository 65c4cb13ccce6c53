import { texts } from '../../shared/words/texts.ts'
import type { Problem } from './client.ts'

/** Why the service refused something, in the reader's language, with its own sentence, which is English. */
export const refusalsText = texts(
  {
    detail: ({ detail }: { code: string; detail: string }) => detail,
    message: (message: string) => message,
  },
  {
    detail: ({ code, detail }) => {
      const words = CODES[code]
      return words ? `${words} Hizmetin yanıtı: “${detail}”` : detail
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

/** What each code means. */
const CODES: Record<string, string | undefined> = {
  malformed: 'İstek okunamadı.',
  invalid_query: 'Adresteki bir değer geçersiz.',
  invalid_cursor: 'Bu sayfa artık gösterilemiyor. Listeyi baştan açın.',
  unauthenticated: 'Oturumunuz sona erdi. Yeniden giriş yapın.',
  plan_required: 'Bu, daha yüksek bir plan gerektiriyor.',
  insufficient_scope: 'Bu anahtarın bunun için yetkisi yok.',
  forbidden: 'Bunun için yetkiniz yok.',
  second_factor_required: 'Bunun için iki adımlı doğrulamayla giriş yapmanız gerekiyor.',
  not_found: 'Bulunamadı. Silinmiş olabilir ya da size açık değil.',
  method_not_allowed: 'Hizmet bu işlemi bilmiyor.',
  not_acceptable: 'Hizmet istenen biçimde yanıt veremiyor.',
  conflict: 'Bu, şu anki durumla çelişiyor.',
  limit_reached: 'Bir sınıra ulaşıldı.',
  nothing_to_send: 'Gönderilecek bir şey yok.',
  owner_protected: 'Kuruluşun sahibi değiştirilemez ve çıkarılamaz.',
  idempotency_in_flight: 'Aynı istek hâlâ işleniyor. Birazdan yeniden deneyin.',
  cursor_expired: 'Bu liste eskidi. Sayfayı yeniden yükleyin.',
  version_mismatch: 'Bu arada başka biri bunu değiştirdi. Yeniden yükleyip tekrar deneyin.',
  too_large: 'İstek çok büyük.',
  unsupported_media_type: 'Hizmet bu dosya biçimini kabul etmiyor.',
  invalid: 'Bazı değerler geçersiz.',
  idempotency_mismatch: 'Aynı kimlikle başka bir istek gönderilmişti.',
  too_much_work: 'Bu hesap için çok fazla veri var. Daha küçük bir alan ya da süre seçin.',
  rate_limited: 'Çok sık istek gönderildi. Birazdan yeniden deneyin.',
  internal: 'Hizmette bir hata oluştu. Birazdan yeniden deneyin.',
  unavailable: 'Hizmet şu anda bunu yapamıyor. Birazdan yeniden deneyin.',
} satisfies Record<Problem['code'], string>

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

/** The sentences of shared/words/issue-words.ts. */
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
    /^Must have (at least|at most) (\d+) (character|entr)\w*\.$/,
    (bound = '', limit = '', unit) => {
      const units = unit === 'character' ? 'karakter' : 'öğe'
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
