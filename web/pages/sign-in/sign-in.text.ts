import { texts } from '../../../shared/words/texts.ts'

export const signInText = texts(
  {
    title: 'Sign in to Watchpost',
    by_link:
      'Open the sign-in link that the service printed when it started, or paste it here. Each link works once, and only for a short time.',
    link: 'Sign-in link',
    new_link: 'Need a new one? Run on the server; for the demo, add --data-dir .data/demo:',
    by_mail: 'We send a link to your address. It works once, and only for a short time.',
    email: 'E-mail',
    send: 'Send the link',
    sent: (email: string) => `The link is on its way to ${email}. You can close this page.`,
    sent_above: (email: string) =>
      `The link is on its way to ${email}. Open it in this browser: this page then goes on, with what you typed.`,
    sign_in: 'Sign in',
    refusals: {
      incomplete: 'This is not a whole sign-in link: it has no token after #.',
      unreachable: 'The service cannot be reached. Try again.',
      other_browser:
        'This link was asked for in another browser. Open it there, or ask for a new one here.',
    },
    // The sentences of the issuers are English.
    codes: {} as Record<string, string>,
    refused: (message: string) => message,
  },
  {
    title: 'Watchpost’ta oturum açın',
    by_link:
      'Hizmetin başlarken yazdığı oturum bağlantısını açın ya da buraya yapıştırın. Her bağlantı bir kez ve kısa bir süre çalışır.',
    link: 'Oturum bağlantısı',
    new_link: 'Yenisi mi gerekiyor? Sunucuda çalıştırın; demo için --data-dir .data/demo ekleyin:',
    by_mail: 'Adresinize bir bağlantı göndeririz. Bir kez ve kısa bir süre çalışır.',
    email: 'E-posta',
    send: 'Bağlantıyı gönder',
    sent: (email: string) => `Bağlantı ${email} adresine gönderildi. Bu sayfayı kapatabilirsiniz.`,
    sent_above: (email: string) =>
      `Bağlantı ${email} adresine gönderildi. Onu bu tarayıcıda açın: bu sayfa, yazdıklarınızla kaldığı yerden sürer.`,
    sign_in: 'Oturum aç',
    refusals: {
      incomplete: 'Bu bağlantı eksik: # işaretinden sonra anahtarı yok.',
      unreachable: 'Hizmete ulaşılamıyor. Yeniden deneyin.',
      other_browser:
        'Bu bağlantı başka bir tarayıcıda istenmişti. Orada açın ya da buradan yenisini isteyin.',
    },
    codes: {
      otp_expired:
        'Bu bağlantı daha önce kullanıldı ya da süresi doldu. Yeni bir bağlantıyla yeniden deneyin.',
      over_request_rate_limit: 'Çok sık denendi. Birazdan yeniden deneyin.',
      over_email_send_rate_limit: 'Az önce bir posta gönderildi. Birazdan yeniden deneyin.',
      email_address_invalid: 'Bu e-posta adresi geçersiz.',
      email_address_not_authorized: 'Bu adrese posta gönderilemiyor.',
      signup_disabled: 'Bu hizmet yeni hesap açmıyor. Hizmeti işletene başvurun.',
      otp_disabled: 'Bu hizmet yeni hesap açmıyor. Hizmeti işletene başvurun.',
      user_banned: 'Bu hesap kapatılmış. Hizmeti işletene başvurun.',
      validation_failed: 'Girdiğiniz değer geçersiz.',
      request_too_large: 'İstek çok büyük.',
      unexpected_failure: 'Hizmette bir hata oluştu. Birazdan yeniden deneyin.',
    },
    refused: (message: string) => `Oturum açılamadı. Hizmetin yanıtı: “${message}”`,
  },
)
