import { texts } from '../i18n/words.ts'

/** Why the database does not do what it was asked. */
export const databaseText = texts(
  {
    away: 'The database is away; try again in a moment.',
    read_only:
      'Only the read-only database key is configured. Paste the service key in Settings > Service Key.',
    unstorable:
      'A value cannot be stored: it is out of range, or its text holds the character U+0000.',
  },
  {
    away: 'Veritabanına şu an ulaşılamıyor; birazdan yeniden deneyin.',
    read_only:
      'Yalnızca okuyan veritabanı anahtarı kullanılıyor. Servis anahtarını Ayarlar > Servis anahtarı bölümüne yapıştırın.',
    unstorable: 'Bir değer saklanamıyor: sınırların dışında ya da metninde U+0000 karakteri var.',
  },
)
