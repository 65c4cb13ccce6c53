import { texts } from '../../../shared/words/texts.ts'

/** What fields for a day and a time say. */
export const datesText = texts(
  {
    calendar: 'Calendar',
    open_calendar: 'Choose from a calendar',
    today: (day: string) => `Today, ${day}`,
    selected: (day: string) => `${day}, selected`,
    example: (example: string) => `e.g. ${example}`,
    unreadable_day: (label: string, example: string) =>
      `${label}: enter a date such as ${example}.`,
    unreadable_time: (label: string, example: string) =>
      `${label}: enter a time such as ${example}.`,
    too_early: (label: string, day: string) => `${label}: enter ${day} or a later date.`,
  },
  {
    calendar: 'Takvim',
    open_calendar: 'Takvimden seç',
    today: (day) => `Bugün, ${day}`,
    selected: (day) => `${day}, seçili`,
    example: (example) => `örn. ${example}`,
    unreadable_day: (label, example) => `${label}: ${example} gibi bir tarih girin.`,
    unreadable_time: (label, example) => `${label}: ${example} gibi bir saat girin.`,
    too_early: (label, day) => `${label}: ${day} veya daha sonraki bir tarih girin.`,
  },
)
