import { texts } from '../i18n/words.ts'

/** Why a database operation failed. */
export const databaseText = texts(
  {
    away: 'The database is unavailable. Try again in a moment.',
    read_only:
      'Only the read-only database key is configured. Paste the service key in Settings > Service Key.',
    unstorable:
      'A value cannot be stored: it is out of range, or its text contains the character U+0000.',
    needs: {
      admin: 'Only an admin can do this. Ask an admin of this hub.',
      seller: 'You can read here, but not change anything. Ask an admin for the role Seller.',
      reader: 'Sign in to read this.',
    },
  },
  {
    away: 'Veritabanına şu an ulaşılamıyor; birazdan yeniden deneyin.',
    read_only:
      'Yalnızca salt okunur veritabanı anahtarı tanımlı. Servis anahtarını Ayarlar > Servis anahtarı bölümüne yapıştırın.',
    unstorable: 'Bir değer saklanamıyor: sınırların dışında ya da metninde U+0000 karakteri var.',
    needs: {
      admin: 'Bunu yalnızca bir yönetici yapabilir. Bu hub’ın bir yöneticisine başvurun.',
      seller:
        'Burayı okuyabilir, ama hiçbir şeyi değiştiremezsiniz. Bir yöneticiden Satışçı rolünü isteyin.',
      reader: 'Bunu okumak için giriş yapın.',
    },
  },
)
