import { texts } from '../i18n.ts'

/** Signing in and the wizard. */
export const accessText = texts(
  {
    login: {
      title: 'Sign in',
      password: 'Password',
      submit: 'Sign in',
      forgotten: 'Forgotten? On the server, watchpost-hub reset-password makes a new set-up code.',
    },
    welcome: {
      title: 'Set up your hub',
      steps: {
        password: 'Password',
        key: 'Service key',
        model: 'Model',
        licence: 'Licence',
        mail: 'Mail',
        project: 'First project',
      },
      step: (at: number, all: number) => `Step ${at} of ${all}`,
      done: 'done',
      skipped: 'skipped',
      resume:
        'You can leave at any time: what is done stays done, and this page goes on where you were.',
    },
    password: {
      title: 'Choose the admin’s password',
      text: 'This hub has one admin. The set-up code proves that you can see its terminal.',
      code: 'Set-up code',
      code_hint: 'The installer printed it at its end; watchpost-hub status shows it again.',
      password: 'New password',
      password_hint: 'At least 10 characters. A few words are easy to remember and hard to guess.',
      repeat: 'Password again',
      differs: 'The two passwords differ.',
      submit: 'Set password',
    },
    key: {
      title: 'Paste the service key',
      text: 'Until then the database lets this hub read only. The key is tried first, then the hub restarts and this page reconnects by itself.',
      label: 'Service key',
      where: 'On the server run',
      submit: 'Use this key',
      restarting: 'The hub restarts with the new key',
      restarting_text: 'This takes a few seconds. Nothing to do here.',
      slow: 'It takes longer than it should. Look at its log on the server: journalctl -u watchpost-hub',
    },
    first_project: {
      title: 'Create the first project',
      text: 'A project is one company or product you sell for, with its own leads, letters and tone of voice.',
    },
  },
  {
    login: {
      title: 'Giriş yap',
      password: 'Parola',
      submit: 'Giriş yap',
      forgotten:
        'Unuttunuz mu? Sunucuda watchpost-hub reset-password yeni bir kurulum kodu üretir.',
    },
    welcome: {
      title: 'Hub’ınızı kurun',
      steps: {
        password: 'Parola',
        key: 'Servis anahtarı',
        model: 'Model',
        licence: 'Lisans',
        mail: 'E-posta',
        project: 'İlk proje',
      },
      step: (at, all) => `Adım ${at} / ${all}`,
      done: 'tamam',
      skipped: 'atlandı',
      resume: 'İstediğiniz an çıkabilirsiniz: yapılan kalır, bu sayfa kaldığınız yerden sürer.',
    },
    password: {
      title: 'Yönetici parolasını seçin',
      text: 'Bu hub’ın tek yöneticisi vardır. Kurulum kodu, terminali görebildiğinizi kanıtlar.',
      code: 'Kurulum kodu',
      code_hint: 'Kurulum sonunda yazdırıldı; watchpost-hub status yeniden gösterir.',
      password: 'Yeni parola',
      password_hint: 'En az 10 karakter. Birkaç sözcük akılda kalır, tahmin edilmesi zordur.',
      repeat: 'Parola tekrar',
      differs: 'İki parola farklı.',
      submit: 'Parolayı belirle',
    },
    key: {
      title: 'Servis anahtarını yapıştırın',
      text: 'O zamana dek veritabanı bu hub’a yalnızca okuma izni verir. Anahtar önce denenir, sonra hub yeniden başlar ve bu sayfa kendiliğinden bağlanır.',
      label: 'Servis anahtarı',
      where: 'Sunucuda şunu çalıştırın',
      submit: 'Bu anahtarı kullan',
      restarting: 'Hub yeni anahtarla yeniden başlıyor',
      restarting_text: 'Birkaç saniye sürer. Yapmanız gereken bir şey yok.',
      slow: 'Olması gerekenden uzun sürüyor. Sunucuda günlüğe bakın: journalctl -u watchpost-hub',
    },
    first_project: {
      title: 'İlk projeyi oluşturun',
      text: 'Proje, satışını yaptığınız bir firma ya da üründür; kendi adayları, mektupları ve üslubu vardır.',
    },
  },
)
