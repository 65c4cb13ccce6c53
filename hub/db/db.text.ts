import { texts } from '../i18n/words.ts'

/** Why a database operation failed. */
export const databaseText = texts(
  {
    away: 'The database is unavailable. Try again in a moment.',
    read_only:
      'Only the read-only database key is configured. Paste the service key in Settings > Service Key.',
    unstorable:
      'A value cannot be stored: it is out of range, or its text contains the character U+0000.',
  },
  {
    away: 'Veritabanına şu an ulaşılamıyor; birazdan yeniden deneyin.',
    read_only:
      'Yalnızca salt okunur veritabanı anahtarı tanımlı. Servis anahtarını Ayarlar > Servis anahtarı bölümüne yapıştırın.',
    unstorable: 'Bir değer saklanamıyor: sınırların dışında ya da metninde U+0000 karakteri var.',
  },
)
