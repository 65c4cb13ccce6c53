import type { Check, CheckOf, OffReason } from '../decide/checks.ts'
import type { Link } from '../decide/link.ts'
import type { AlertOutcome } from '../decide/match-memory.ts'
import { at, type Clock, kilometres, oneDecimal, type Sentences } from './sentences.ts'

// Suffixes follow the vowels of what they are added to, so none is added to a name, a number or a time.
export const turkish: Sentences = {
  because,
  whyNot,
  over: {
    left: 'bölgeden ayrıldı',
    unseen: '24 saattir görülmedi',
    ended: 'kaynağın bildirdiğine göre sona erdi',
    retracted: 'kaynak bu bildirimi geri çekti',
  },
  changed: (update, numbers) =>
    `${update === 'revised' ? 'güncellendi' : 'önem derecesi yükseldi'}; şu an ${numbers}`,
}

function because(check: Check): string | null {
  switch (check.name) {
    case 'severity':
      return `${product(check)}, eşiği karşılıyor (eşik ${number(check.min_severity)})`
    case 'geometry':
      return place(check)
    case 'duplicate':
      return check.escalates
        ? `${sameAs(check)}önceki en yüksek değer ${number(check.peak ?? 0)} (${outcome(check.alert)})`
        : null
    case 'dwell':
      return check.dwell_minutes > 0 && check.stayed_minutes !== null ? stayed(check) : null
    case 'quiet_hours':
      return check.overridden_by_emergency
        ? `${emergency(check)}, sessiz saatlere rağmen gönderildi`
        : null
    case 'aftershock':
      return check.overridden_by_emergency
        ? `${emergency(check)}, artçı olmasına rağmen gönderildi`
        : null
    case 'burst':
      return check.overridden_by_emergency
        ? `${emergency(check)}, saatlik sınıra rağmen gönderildi: ${sentInHour(check)}`
        : null
    default:
      return null
  }
}

function whyNot(check: Check, clock: Clock): string {
  switch (check.name) {
    case 'enabled':
      return OFF[check.reason ?? 'disabled']
    case 'filter':
      if (!check.visible) return 'bölgeyi görenlerin bir kısmı bu olayı göremiyor'
      if (check.sources && !check.sources.includes(check.source)) {
        return `${check.source} kaynağı seçili kaynaklar arasında değil: ${check.sources.join(', ')}`
      }
      if (check.types && !check.types.includes(check.type)) {
        return `${check.type} türü seçili türler arasında değil: ${check.types.join(', ')}`
      }
      if (check.status === 'ended') return 'olay sona ermiş'
      if (check.status === 'retracted') return 'olay geri çekilmiş'
      if (check.flag === 'jump') return JUMP
      return `gerçekleştikten ${number(check.delay_hours)} saat sonra görüldü; böyle bir olay ${check.news_for_hours} saat haber sayılır`
    case 'geometry':
      return place(check)
    case 'severity':
      return `${product(check)}, eşiğin altında (eşik ${number(check.min_severity)})`
    case 'duplicate':
      if (check.late) return 'konum, son görülen konumdan daha yeni değil'
      return `${sameAs(check)}zaten bir uyarı var (${outcome(check.alert)}, şimdiye kadarki en yüksek değer ${number(check.peak ?? 0)})`
    case 'dwell':
      return stayed(check)
    case 'snooze':
      return `bölge şu zamana kadar susturuldu: ${at(check.snoozed_until, clock)}`
    case 'quiet_hours':
      return check.quiet_mode === 'hold'
        ? `sessiz saatler nedeniyle şu zamana kadar bekletiliyor: ${at(check.window_end, clock)}`
        : `sessiz saatler nedeniyle gönderilmedi; sessiz saatlerin bitişi: ${at(check.window_end, clock)}`
    case 'aftershock':
      return aftershock(check, clock)
    case 'burst':
      return `${sentInHour(check)}; bu nedenle diğerleriyle birlikte şu zamana kadar bekliyor: ${at(check.held_until, clock)}`
  }
}

const JUMP =
  'hiçbir şey önceki konumdan buraya bu kadar hızlı gelemez; nerede olduğunu bir sonraki konum gösterecek'

/** Of an event that another source has reported before. */
function sameAs({ linked_event_id, link }: CheckOf<'duplicate'>): string {
  if (linked_event_id === null) return ''
  const same = `aynı olay daha önce şu kimlikle bildirildi: ${link?.event_id ?? linked_event_id}`
  return link ? `${same} (${apart(link)}); ` : `${same}; `
}

/** How far apart the reports of two sources are. */
function apart({ rule, seconds_apart, distance_km, magnitude_apart, name }: Link): string {
  const hours = `${number(seconds_apart / 3600)} saat`
  const far = `${number(distance_km)} km`
  switch (rule) {
    case 'earthquake':
      return `aradaki fark ${number(seconds_apart)} sn, ${far}, büyüklükte ${number(magnitude_apart ?? 0)}`
    case 'storm':
      return `${name}, aradaki fark ${hours}, ${far}`
    case 'wildfire':
      return `aradaki fark ${hours}, ${far}`
    case 'tsunami':
      return `${name}, aradaki fark ${hours}`
  }
}

function aftershock(
  { magnitude, magnitude_gap, mainshock }: CheckOf<'aftershock'>,
  clock: Clock,
): string {
  if (!mainshock) return 'artçı deprem'
  const { event_id, distance_km, limit_km, until } = mainshock
  const place = `${number(distance_km)} km uzakta (sınır ${number(limit_km)} km)`
  return `${event_id} depreminin artçısı: M ${decimal(magnitude ?? 0)}, ana depremin büyüklüğünden (${decimal(mainshock.magnitude)}) en az ${decimal(magnitude_gap)} küçük; ${place}; şu zamana kadar artçı sayılır: ${clock(until)}`
}

const sentInHour = ({ sent, max_alerts_per_hour }: CheckOf<'burst'>) =>
  `son bir saatte ${sent} uyarı gönderildi (en fazla ${max_alerts_per_hour})`

const emergency = ({ emergency_severity }: { emergency_severity: number | null }) =>
  `acil durum (${decimal(emergency_severity ?? 0)} ve üzeri)`

const OFF: Record<OffReason, string> = {
  deleted: 'bölge silinmişti',
  disabled: 'bölge kapatılmıştı',
  paused_by_plan: 'sahibinin hesabı Pro planının altında olduğu için bölge duraklatılmıştı',
  owner_banned: 'sahibinin hesabı engellendiği için bölge duraklatılmıştı',
}

const OUTCOMES: Record<AlertOutcome, string> = {
  raised: 'bildirildi',
  held: 'bekletildi',
  suppressed: 'gönderilmedi',
}
const outcome = (alert: AlertOutcome | null) => OUTCOMES[alert ?? 'raised']

const stayed = ({ stayed_minutes, dwell_minutes }: CheckOf<'dwell'>) =>
  `bölgede kalma süresi ${number(stayed_minutes ?? 0)} dakika (beklenen ${number(dwell_minutes)} dakika)`

function product({ severity, multiplier, effective }: CheckOf<'severity'>): string {
  const given = `önem derecesi ${severity} × ${decimal(multiplier)}`
  return severity * multiplier > 100
    ? `${given}, en çok ${decimal(effective)}`
    : `${given} = ${decimal(effective)}`
}

function place(check: CheckOf<'geometry'>): string {
  const { passed, inside, distance_km, radius_km } = check
  const side = inside ? 'içinde' : 'dışında'
  const where =
    distance_km === null || radius_km === null
      ? `çokgenin ${side}`
      : `merkeze ${comma(kilometres(distance_km, radius_km))} km uzakta, ${decimal(radius_km)} km'lik yarıçapın ${side}`
  return passed && !inside ? `${where}, ama etki alanı bölgeye değiyor` : where
}

const comma = (digits: string) => digits.replace('.', ',')
const decimal = (value: number) => comma(String(value))
const number = (value: number) => comma(oneDecimal(value))
