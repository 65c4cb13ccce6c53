import { texts } from '../../../shared/words/texts.ts'

export const previewText = texts(
  {
    by_source: 'Alerts by source',
    suppressed: (count: number, shown: string) =>
      count === 1
        ? '1 event inside raised none, by the rules of the zone.'
        : `${shown} events inside raised none, by the rules of the zone.`,
    nothing: 'Nothing happened inside the zone. A larger one would show more.',
    since: 'Events are stored since',
    many: 'That is too many to read: narrow the zone, its kinds of events or its sources.',
    suggested: (severity: number, count: number) =>
      count === 1
        ? `From severity ${severity} on, it would have alerted once.`
        : `From severity ${severity} on, it would have alerted ${count} times.`,
    use: (severity: number) => `Alert from ${severity}`,
    by_rule: 'Events inside that raised none',
    steps: (count: number, times: string) =>
      count === 1
        ? `Unacknowledged, its step would have run ${times}.`
        : `Unacknowledged, its steps would have run ${times}.`,
    rules: {
      enabled: 'The zone was off',
      filter: 'Other kind or source',
      severity: 'Not severe enough',
      aftershock: 'Aftershock',
      duplicate: 'Alerted already',
      dwell: 'Did not stay',
      quiet_hours: 'Quiet hours',
      burst: 'Hourly limit',
    },
  },
  {
    by_source: 'Kaynağa göre uyarılar',
    suppressed: (_: number, shown: string) =>
      `İçeride gerçekleşen ${shown} olay, bölgenin kuralları nedeniyle uyarı vermezdi.`,
    nothing: 'Bölgenin içinde hiçbir şey olmadı. Daha büyük bir bölgede daha çok olay görülür.',
    since: 'Olaylar şu tarihten beri saklanıyor:',
    many: 'Bu kadar uyarı okunamaz: bölgeyi, olay türlerini ya da kaynakları daraltın.',
    suggested: (severity: number, count: number) =>
      `En düşük önem derecesi ${severity} olsaydı ${count} kez uyarı verirdi.`,
    use: (severity: number) => `En düşük: ${severity}`,
    by_rule: 'İçeride olup uyarı vermeyenler',
    steps: (count: number, times: string) =>
      `Onaylanmasaydı ${count === 1 ? 'adımı' : 'adımları'} şu zamanda çalışırdı: ${times}.`,
    rules: {
      enabled: 'Bölge kapalıydı',
      filter: 'Başka tür ya da kaynak',
      severity: 'Yeterince önemli değil',
      aftershock: 'Artçı',
      duplicate: 'Zaten uyarılmış',
      dwell: 'Yeterince kalmamış',
      quiet_hours: 'Sessiz saatler',
      burst: 'Saatlik sınır',
    },
  },
)
