/** The words of messages: the only place of them, but for the sentences of shared/reason. */

import type { BANDS } from '../../../shared/decide/bands.ts'
import type { Clock, Update } from '../../../shared/reason/sentences.ts'
import type { EventType } from '../../../shared/schemas/event.ts'
import { eventWords } from '../../../shared/words/event-words.ts'
import type { Language } from '../../../shared/words/texts.ts'
import type { Cause } from '../channel.ts'

type Band = (typeof BANDS)[number]

export type Words = {
  /** Of Intl. */
  locale: string
  bands: Record<Band, string>
  types: Record<EventType, string>
  updates: Record<Update | Act, string>
  /** What somebody did with an alert. */
  acts: Record<Act, string>
  facts: Record<Fact, string>
  links: Record<'map' | 'source' | 'acknowledge', string>
  changes: Record<string, string>
  severity: (severity: number, band: string) => string
  depth: (km: string) => string
  zones: (names: string[], more: number) => string
  digest: (zone: string, count: number) => string
  part: (part: number, parts: number, alerts: number) => string
  held: Record<'quiet_hours' | 'burst', string>
  /** Why a step of the escalation of a zone sends an alert. */
  unacknowledged: (minutes: number, step: number, steps: number) => string
  blind: {
    heading: string
    title: (source: string) => string
    text: (facts: { since: string; reason: string; isDown: boolean; zones: string }) => string
  }
  /** What is wrong with a source; null where that is told by the sentence that is stored, which is English. */
  causes: ((cause: Cause, clock: Clock) => string) | null
  sighted: {
    heading: string
    title: (source: string) => string
    text: (facts: { since: string; until: string; lasted: string; zones: string }) => string
  }
  failing: {
    heading: string
    title: (channel: string) => string
    text: (facts: { since: string; reason: string; isDisabled: boolean }) => string
  }
  recovered: {
    heading: string
    title: (channel: string) => string
    text: (facts: { since: string; until: string; reason: string }) => string
  }
  test: { heading: string; title: string; text: string }
  /** Of all that is said of a drill: the mark, and what stands in the place of the title and before the text. */
  drill: { mark: string; title: (type: string) => string; text: string }
  duration: (days: number, hours: number, minutes: number) => string
  /** At the end of a text that was cut. */
  cut: string
  /** In the place of the last of an alert's facts that did not fit. */
  incomplete: string
}
export type Act = 'acknowledged' | 'resolved' | 'reopened'
type Fact =
  | 'severity'
  | 'magnitude'
  | 'depth'
  | 'time'
  | 'ends'
  | 'place'
  | 'subject'
  | 'also'
  | 'changed'

const count = (number: number, one: string, many: string) =>
  `${number} ${number === 1 ? one : many}`

const english: Words = {
  locale: 'en-GB',
  ...eventWords.en,
  updates: {
    revised: 'Revised',
    escalated: 'Worse',
    ended: 'Over',
    retracted: 'Withdrawn',
    acknowledged: 'Seen',
    resolved: 'Resolved',
    reopened: 'Reopened',
  },
  acts: {
    acknowledged: 'Somebody has seen this alert.',
    resolved: 'Somebody has resolved this alert.',
    reopened: 'Somebody has reopened this alert.',
  },
  facts: {
    severity: 'Severity',
    magnitude: 'Magnitude',
    depth: 'Depth',
    time: 'Time',
    ends: 'Lasts until',
    place: 'Place',
    subject: 'Followed',
    also: 'Also reported by',
    changed: 'Changed',
  },
  links: { map: 'Map', source: 'Source', acknowledge: 'I have seen it' },
  changes: {
    severity: 'severity',
    magnitude: 'magnitude',
    depth_km: 'depth in km',
    title: 'title',
    ts: 'time',
    place: 'place',
    ends_at: 'end',
    type: 'type',
    url: 'link',
  },
  severity: (severity, band) => `${severity} of 100 (${band})`,
  depth: (km) => `${km} km`,
  zones: (names, more) => (more > 0 ? `${names.join(', ')} and ${more} more` : names.join(', ')),
  digest: (zone, alerts) => `${zone}: ${count(alerts, 'alert', 'alerts')}`,
  part: (part, parts, alerts) =>
    `Part ${part} of ${parts}, ${count(alerts, 'alert', 'alerts')} in all`,
  held: {
    quiet_hours: 'Held back during quiet hours.',
    burst: 'Held back because the zone had sent as many alerts as it may in an hour.',
  },
  unacknowledged: (minutes, step, steps) =>
    `Nobody has acknowledged this alert for ${count(minutes, 'minute', 'minutes')} (step ${step} of ${steps}).`,
  failing: {
    heading: 'A channel fails',
    title: (channel) => `${channel}: nothing arrives`,
    text: ({ since, reason, isDisabled }) =>
      `${isDisabled ? 'Its receiver refused the messages for good, so this channel was switched off.' : 'Messages to this channel fail.'} Nothing has arrived since ${since}. The last error: ${reason} ${isDisabled ? 'Correct the channel and switch it on again.' : 'Watchpost keeps trying.'}`,
  },
  recovered: {
    heading: 'A channel works again',
    title: (channel) => `${channel}: messages arrive again`,
    text: ({ since, until }) => `No message reached this channel from ${since} to ${until}.`,
  },
  blind: {
    heading: 'A source is silent',
    title: (source) => `${source}: no data`,
    text: ({ since, reason, isDown, zones }) =>
      `${isDown ? 'The source has been unreachable' : 'The source has sent nothing new'} since ${since} (${reason}). Until it is back, alerts may be missing in: ${zones}.`,
  },
  causes: null,
  sighted: {
    heading: 'A source is back',
    title: (source) => `${source}: data again`,
    text: ({ since, until, lasted, zones }) =>
      `There was no data from ${since} to ${until} (${lasted}). Watched again: ${zones}.`,
  },
  test: {
    heading: 'Test',
    title: 'Test from Watchpost',
    text: 'This channel works. It is only a test: nothing has happened.',
  },
  drill: {
    mark: 'DRILL',
    title: (type) => `DRILL: ${type}, no real event`,
    text: 'This is a drill: nothing has happened.',
  },
  duration: (days, hours, minutes) =>
    [
      ...(days ? [count(days, 'day', 'days')] : []),
      ...(hours ? [count(hours, 'hour', 'hours')] : []),
      ...(minutes || !(days || hours) ? [count(minutes, 'minute', 'minutes')] : []),
    ].join(' '),
  cut: '… (shortened)',
  incomplete: 'This message was shortened.',
}

const CAUSES: Record<string, string> = {
  unanswered: 'kaynak henüz hiç yanıt vermedi',
  nothing_since: 'kaynaktan veri gelmiyor, son veri:',
  no_event_since: 'kaynak yanıt veriyor ama olay göndermiyor, son olay:',
  unusable: 'kaynağın yanıtlarının çoğu kullanılamıyor',
  unreachable: 'kaynağa ulaşılamadı',
  http_status: 'kaynak hata yanıtı verdi',
  rate_limited: 'kaynağın istek sınırı aşıldı',
  not_json: 'kaynağın yanıtı okunamadı',
  unreadable: 'kaynağın yanıtı okunamadı',
  too_large: 'kaynağın yanıtı çok büyük',
  error: 'kaynak hata verdi',
}

// Suffixes follow the vowels of what they are added to, so none is added to a name, a number or a time.
const turkish: Words = {
  locale: 'tr-TR',
  ...eventWords.tr,
  updates: {
    revised: 'Güncellendi',
    escalated: 'Kötüleşti',
    ended: 'Sona erdi',
    retracted: 'Geri çekildi',
    acknowledged: 'Görüldü',
    resolved: 'Kapatıldı',
    reopened: 'Yeniden açıldı',
  },
  acts: {
    acknowledged: 'Bu uyarının görüldüğü bildirildi.',
    resolved: 'Bu uyarı kapatıldı.',
    reopened: 'Bu uyarı yeniden açıldı.',
  },
  facts: {
    severity: 'Önem derecesi',
    magnitude: 'Büyüklük',
    depth: 'Derinlik',
    time: 'Zaman',
    ends: 'Beklenen bitiş',
    place: 'Konum',
    subject: 'İzlenen',
    also: 'Bildiren diğer kaynaklar',
    changed: 'Değişenler',
  },
  links: { map: 'Harita', source: 'Kaynak', acknowledge: 'Gördüm' },
  changes: {
    severity: 'önem derecesi',
    magnitude: 'büyüklük',
    depth_km: 'km olarak derinlik',
    title: 'başlık',
    ts: 'zaman',
    place: 'konum',
    ends_at: 'bitiş',
    type: 'tür',
    url: 'bağlantı',
  },
  severity: (severity, band) => `${severity}/100 (${band})`,
  depth: (km) => `${km} km`,
  zones: (names, more) =>
    more > 0 ? `${names.join(', ')} ve ${more} bölge daha` : names.join(', '),
  digest: (zone, alerts) => `${zone}: ${alerts} uyarı`,
  part: (part, parts, alerts) => `Bölüm ${part}/${parts}, toplam ${alerts} uyarı`,
  held: {
    quiet_hours: 'Sessiz saatler nedeniyle bekletildi.',
    burst: 'Bölgenin saatlik uyarı sınırı dolduğu için bekletildi.',
  },
  unacknowledged: (minutes, step, steps) =>
    `Bu uyarıyı ${minutes} dakikadır kimse görmedi (adım ${step}/${steps}).`,
  failing: {
    heading: 'Bir kanal çalışmıyor',
    title: (channel) => `${channel}: iletiler ulaşmıyor`,
    text: ({ since, reason, isDisabled }) =>
      `${isDisabled ? 'Alıcı iletileri kesin olarak reddettiği için bu kanal kapatıldı.' : 'Bu kanala ileti ulaşmıyor.'} Başlangıç: ${since}. Son hata: ${reason} ${isDisabled ? 'Kanalı düzeltip yeniden açın.' : 'Yeniden deneniyor.'}`,
  },
  recovered: {
    heading: 'Kanal yeniden çalışıyor',
    title: (channel) => `${channel}: iletiler yeniden ulaşıyor`,
    text: ({ since, until }) => `Bu kanala ${since} ile ${until} arasında hiçbir ileti ulaşmadı.`,
  },
  blind: {
    heading: 'Bir kaynaktan veri gelmiyor',
    title: (source) => `${source}: veri yok`,
    text: ({ since, reason, isDown, zones }) =>
      `${isDown ? 'Kaynağa ulaşılamıyor' : 'Kaynaktan yeni veri gelmiyor'}. Başlangıç: ${since}. Neden: ${reason}. Kaynak düzelene kadar şu bölgelerde uyarılar eksik kalabilir: ${zones}.`,
  },
  causes: ({ code, said, at, seconds = 0 }, clock) =>
    [
      CAUSES[code] ?? CAUSES.error,
      ...(at ? [clock(at)] : []),
      ...(seconds > 0 ? [`(daha önceki en uzun sessizlik ${Math.ceil(seconds / 3600)} saat)`] : []),
      ...(said ? [`(“${said}”)`] : []),
    ].join(' '),
  sighted: {
    heading: 'Kaynak yeniden çalışıyor',
    title: (source) => `${source}: veri yeniden geliyor`,
    text: ({ since, until, lasted, zones }) =>
      `Veri gelmeyen süre: ${since} – ${until} (${lasted}). Yeniden izlenen bölgeler: ${zones}.`,
  },
  test: {
    heading: 'Deneme',
    title: 'Watchpost deneme iletisi',
    text: 'Bu kanal çalışıyor. Bu yalnızca bir deneme; herhangi bir olay yok.',
  },
  drill: {
    mark: 'TATBİKAT',
    title: (type) => `TATBİKAT: ${type}, gerçek bir olay değil`,
    text: 'Bu bir tatbikattır: hiçbir şey olmadı.',
  },
  duration: (days, hours, minutes) =>
    [
      ...(days ? [`${days} gün`] : []),
      ...(hours ? [`${hours} saat`] : []),
      ...(minutes || !(days || hours) ? [`${minutes} dakika`] : []),
    ].join(' '),
  cut: '… (kısaltıldı)',
  incomplete: 'Bu ileti kısaltıldı.',
}

export const WORDS: Record<Language, Words> = { en: english, tr: turkish }

/** The title of a drill: what its event has instead of one of its own. */
export function drillTitle(type: EventType, language: Language): string {
  const { drill, types } = WORDS[language]
  return drill.title(types[type])
}
