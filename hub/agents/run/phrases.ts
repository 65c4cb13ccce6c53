import type { AgentName } from '../names.ts'

/**
 * What people say when they mean an agent, as folded words (`fold.ts`): in this order, with up to
 * three others between them. A word takes the endings of its language, `word*` takes any, `#` is
 * a number. `!` before a phrase: hardly anything else can be meant. `~`: says little by itself.
 */
type Phrases = { en: string; tr: string }

export const PHRASES = {
  research: {
    en: `
      research, find lead, find compan*, find customer, find prospect, find client,
      find business*, find firm, find contact, find agenc*, find supplier, find manufacturer,
      find distributor, find people, lead list, list of compan*, prospect list, !prospecting,
      !lead generation, generate lead, new lead, look for compan*, look for lead, look for,
      search for compan*, who could buy, deep dive, potential customer, potential client,
      extract contact, extract lead, extract compan*, import lead, from csv,
      from spreadsheet, from list, target compan*, similar compan*, competitor,
      decision maker, market research, ~search, ~lead, ~prospect, ~compan*, find, find #,
      find in, find me, find us`,
    tr: `
      arastir, arastirma, firma bul, sirket bul, musteri bul, lead bul, kisi bul, aday bul,
      isletme bul, tedarikci bul, uretici bul, distributor bul, bayi bul, ajans bul,
      otel bul, klinik bul, magaza bul, musteri aday, potansiyel musteri, firma listele,
      sirket listele, firma liste, sirket liste, musteri liste, aday liste, listeden cikar,
      kisileri cikar, firmalari cikar, firma ara, sirket ara, musteri ara,
      derinlemesine incele, rakip, karar verici, pazar arastirma, hedef firma, hedef sirket,
      benzer firma, benzer sirket, csv, exceldeki, lead cikar, yeni lead, ~firma, ~sirket,
      ~lead, ~listele, # bul, # tane, # adet, bul`,
  },
  web_research: {
    en: `
      !deep profile, !web research, !browse, !scrape, !crawl, website of, read website,
      read site, read page, visit website, visit site, visit page, open website, open site,
      look website, look at site, check website, check site, check page, from website,
      from site, on website, on their site, through website, company profile,
      profile of company, profile from, profile of, go through site, go to website,
      go to site, study website, ~web page, homepage, online presence, https, http, www,
      ~website, ~online, ~internet, ~profile`,
    tr: `
      !derin profil, !web arastirma, !internetten arastir, sitesini incele, sitesini oku,
      sitesini gez, site incele, sitesine gir, sitesine bak, sayfasini oku, sayfasina bak,
      sayfasini incele, sayfa incele, sayfa oku, web site, internet site, internet sayfa,
      web sayfa, profil cikar, profil olustur, profil hazirla, sirket profil, firma profil,
      detayli profil, siteyi tara, sitesini tara, sitesinden, siteden, internette ara,
      internetten bak, internetten bul, tarayici, ana sayfa, https, http, www, ~internet,
      ~online, ~site, ~profil`,
  },
  marketing: {
    en: `
      !cold email, !cold mail, newsletter, !email campaign, !mail campaign, !drip, campaign,
      mail draft, email draft, draft email, draft mail, draft message, write email,
      write mail, write message, compose message, compose email, message to, write letter, outreach, follow up email, follow up mail,
      followup, subject line, marketing, copy for, ad copy, landing page copy, slogan,
      tagline, announcement, announce, introduction email, intro email, introduce us,
      reach out, send email, linkedin post, social media, blog post, invitation, invite,
      product launch, promotion, promote, redesign mail, redesign email, ~email, ~mail,
      ~e mail, ~draft, ~letter, ~copy`,
    tr: `
      !soguk e posta, !soguk mail, bulten, !mail kampanya, !e posta kampanya, kampanya,
      mail taslak, e posta taslak, eposta taslak, mail yaz, e posta yaz, eposta yaz,
      mesaj yaz, mektup yaz, mail hazirla, e posta hazirla, eposta hazirla, tanitim mail,
      tanitim e posta, tanitim metn*, tanitim yazi, tanitim, konu satir, konu baslig*,
      pazarlama, reklam metn*, reklam, slogan, duyuru, duyur, davet, hatirlatma mail,
      takip mail, takip e posta, sosyal medya, linkedin gonder*, blog yazi, lansman, mail at,
      mail gonder, e posta gonder, indirim mail, ~mail, ~e posta, ~eposta, ~taslak, ~mektup,
      ~metin`,
  },
  sales: {
    en: `
      !call script, !sales script, !phone script, !cold call, !sales pitch, !sales proposal,
      proposal, sales, offer for, make offer, prepare offer, write offer, an offer,
      ~our offer, quote for, quotation, prepare quote, pitch, objection, negotiat*,
      close deal, closing, demo script, discovery call, discovery question, talking point,
      sales call, call with, what to say, should say, say on the phone, on the phone, upsell, cross sell, meeting prep*, prepare meeting,
      ~offer, ~quote, ~call, ~script, ~customer, ~deal`,
    tr: `
      !arama metn*, !arama senaryo, !satis senaryo, !gorusme senaryo, !telefon senaryo,
      !satis konusma*, !satis teklif, teklif hazirla, teklif yaz, teklif olustur, teklif ver,
      teklif cikar, teklif mektub*, teklif metn*, teklif dosya, teklif, fiyat teklif, satis,
      itiraz, pazarlik, muzakere, ikna, sunum, demo gorusme, kesif gorusme, gorusme hazirla,
      gorusme soru, gorusme, arayinca, ararken, telefonda, ne diyeyim, ne soyle*,
      toplanti hazirla, toplanti oncesi, anlasmayi kapat, capraz satis, ~arama, ~ara,
      ~senaryo, ~musteri`,
  },
  engineer: {
    en: `
      write code, write script, write function, write program, !python, !javascript,
      !typescript, bash script, shell script, sql script, html page, css, react, regex,
      regular expression, fix bug, !bugfix, !refactor, bug, debug, code, function, implement,
      feature, unit test, api client, api, endpoint, webhook, patch, class, parser,
      stack trace, exception, type error, compile, build page, create page, make page, create web page, landing page, automate,
      integration, ~script, ~program, ~error, ~test, ~app, ~fix`,
    tr: `
      kod yaz, kodu yaz, kodla, script yaz, betik yaz, betik, fonksiyon yaz, fonksiyon,
      program yaz, python, javascript, typescript, html sayfa, css, react, regex,
      duzenli ifade, hata duzelt, hatayi duzelt, hata ayikla, bug, kod, refaktor*,
      ozellik ekle, ozellig* ekle, yeni ozellik, yazilim, api, uc nokta, webhook, yama,
      birim test, sinif yaz, ayristir*, derle, derlen*, entegrasyon, otomatiklestir, istisna,
      acilis sayfa, gelistirme yap, ~uygulama, ~test, ~program, ~hata, ~duzelt`,
  },
  engineer_system: {
    en: `
      !improve the hub, !hub code, !hub source, !code of the hub, !patch the hub, !patch hub,
      !change the hub, !extend the hub, !hub self improvement, !self improvement of the hub,
      !modify the hub, !rewrite hub, !fix hub, !bug in the hub, !bug in hub,
      !feature to the hub, !feature to hub, !feature for the hub, !hub feature,
      !endpoint to the hub, !to the hub itself, !of the hub itself, !improve yourself,
      !your own code, !your own source, !your code, !watchpost code, !agent code,
      !hub should be able, !hub dashboard code, !hub backend, !hub api, !hub module,
      !refactor the hub, !add hub, !add to the hub, !put into the hub, !in the hub source, !teach the hub`,
    tr: `
      !hub kod, !hub kaynak, !hub gelistir, !hub iyilestir, !hub degistir, !hub yama,
      !hub duzelt, !hub hatas*, !huba ozellik, !hub ozellik, !hub yeni ozellik, !huba ekle,
      !hub ekle, !hub icin kod, !hub kendi, !hubin, !kendi kod, !kendi kaynak,
      !hub sistem kod, !sistem kod, !sistem yazilim*, !platform kod, !panel kod, !hub panel,
      !watchpost kod, !ajan kod, !hub arayuz, !hub api, !hub modul, !hub refaktor*,
      !hub yetenek, !huba yetenek, !huba ogret`,
  },
  docs: {
    en: `
      write document*, document, documentation, !readme, !user guide, !user manual, manual,
      guide, how to, tutorial, faq, handbook, onboarding, sop, standard operating procedure,
      procedure, instruction, checklist for, meeting minutes, minutes, meeting note,
      white paper, whitepaper, case study, one pager, brief, knowledge base, release note,
      changelog, specification, article, summar*, write up, job description, wiki, glossary,
      training material, ~write, ~doc, ~text, ~note, ~page`,
    tr: `
      dokuman, dokumantasyon, belge, belgele, !kullanim kilavuz, !kullanici kilavuz, kilavuz,
      rehber, el kitab*, sss, sikca sorulan, talimat, prosedur, ~is akis, egitim,
      toplanti tutanag*, toplanti not, tutanak, vaka calisma, ozet, ozetle, makale,
      surum not, sartname, nasil yapil*, is tanim, gorev tanim, bilgi banka, sozluk,
      tek sayfa, readme, oryantasyon, ise alis*, ~yaz, ~yazi, ~metin, ~not, ~hazirla`,
  },
  finance: {
    en: `
      !invoice, !invoicing, !cost analysis, !cash flow, !profit and loss, !break even,
      !balance sheet, cost, budget, expense, vat, tax, price calculation, calculate price,
      margin, profit, revenue forecast, payment plan, installment, financ*, billing,
      bill for, receipt, payroll, salary, roi, total price, unit price, how much would,
      how much does, how much will, how much do, fee, subscription price, depreciation,
      discount, ~price, ~usd, ~eur, ~euro, ~dollar, ~pay, ~money`,
    tr: `
      !fatura, !maliyet, !nakit akis, !kar zarar, !basa bas nokta, !bilanco, butce, gider, harcama,
      kdv, vergi, stopaj, fiyat hesapla, tutar hesapla, toplam hesapla, hesapla, kar marj,
      marj, karlilik, odeme plan, taksit, finans, muhasebe, maas, bordro, makbuz, masraf,
      ne kadara, kaca mal, kac lira, kac para, kaca, ucret, amortisman, birim fiyat,
      toplam tutar, iskonto, indirim orani, indirimli, ~fiyat, ~tl, ~lira, ~euro, ~dolar,
      ~para, ~odeme`,
  },
  legal: {
    en: `
      !nda, !non disclosure, !confidentiality, !gdpr, !kvkk, !data protection,
      !privacy policy, !privacy notice, !cookie policy, !terms of service, !terms of use,
      !terms and conditions, !data processing agreement, !dpa, legal, legally, law, lawyer,
      contract, draft contract, draft agreement, agreement, clause, compliance, compliant, liability, consent, personal data,
      intellectual property, trademark, copyright, licensing term, regulation, jurisdiction,
      dispute, breach, !lawful basis, !is it legal, legitimate interest`,
    tr: `
      !nda, !gizlilik sozlesme, !gizlilik anlasma, !kvkk, !gdpr, !veri koruma, !kisisel veri,
      !aydinlatma metn*, !acik riza, !gizlilik politika, !cerez politika, !kullanim kosul*,
      !kullanim sart*, !veri isleme sozlesme, !veri isleyen, sozlesme, hukuk, hukuki, yasal, !yasal mi,
      kanun, avukat, mevzuat, uyumluluk, uyum, sorumluluk, riza, marka tescil, telif,
      fikri mulkiyet, ihtarname, dava, yonetmelik, verbis, fesih, cezai sart, mesafeli satis,
      iys, yasalar, yasaya, ~madde`,
  },
  data: {
    en: `
      !sql, !query, analy*, report, reporting, chart, graph, plot, statistic*, metric,
      dashboard, how many, !count the, number of, average, median, percentage, conversion rate,
      open rate, reply rate, bounce rate, bounced, response rate, breakdown, break down, by country,
      by stage, by source, ~per week, ~per month, ~per day, per country, group by, trend,
      compare, distribution, funnel, top 10, top ten, top 5, most lead, ranking, correlation,
      which country, which stage, which source, ~data, ~table, ~show, ~total, ~last month,
      ~last week`,
    tr: `
      !sql, !sorgu, !sorgula, analiz, analizi, rapor, raporla, grafik, istatistik, metrik,
      olcum, kac lead, kac tane, kac kisi, kac musteri, kac mail, kac taslak, kac firma, kac,
      sayisi, sayilari, ortalama, medyan, yuzde, donusum, oran, acilma oran, yanit oran,
      ulkelere gore, ulkeye gore, asamaya gore, asamalara gore, kaynaga gore,
      kaynaklara gore, sektore gore, haftalik, aylik, gunluk, dagilim, gore dagilim, dagilimi, trend,
      karsilastir, kiyasla, huni, en cok, en fazla, siralama, sirala, hangi ulke,
      hangi asama, hangi kaynak, tablo, ~goster, ~toplam, ~gecen ay, ~gecen hafta, ~liste,
      veriler, verileri, veri taban*, verilere`,
  },
  pm: {
    en: `
      !improvement loop, !retrospective, !retro, !lessons learned, !lesson learned,
      !post mortem, !postmortem, !failed mission, !mission fail, !missions that failed,
      !why did mission, !improve prompt, !better prompt, !prompt improvement, !improve agent,
      !agent performance, !agents perform, !agents doing, !agents better, !tune prompt,
      !improve our process, !process improvement, !process change, !self improve,
      improve process, change process, propose change, improve how we work, review mission, rejected draft, drafts rejected,
      went wrong, go wrong, what can we do better, do better, continuous improvement,
      workflow, bottleneck, feedback, prompt change, change prompt, learn from, ~improve,
      ~prompt, ~process, ~agent, ~mission`,
    tr: `
      !gelistirme dongu, !iyilestirme dongu, !kendini gelistir, !retrospektif,
      !basarisiz gorev, !basarisiz ol* gorev, !gorevler neden, !gorev neden,
      !istem iyilestir, !istemleri iyilestir, !istem gelistir, !prompt iyilestir,
      !prompt gelistir, !prompt duzelt, !promptlari, !ajanlari iyilestir, !ajan performans,
      !ajanlarin performans, !ajanlar nasil, !ajanlarin, !surec iyilestir, !surec gelistir,
      !surec oneri, !surecleri, surec, istemi, istemini, istemin, istemler*, geri bildirim, reddedilen taslak, neyi yanlis,
      nerede yanlis, yanlis yap, yanlis git, ders cikar, cikarilan ders, daha iyi yap,
      is akisini iyilestir, darbogaz, tikan, !aksayan, aksa, ~iyilestir, ~gelistir, ~prompt,
      ~ajan, ~gorev`,
  },
  system: {
    en: `
      !health alert, !health check, !disk full, !disk space, !disk is, !out of memory,
      !out of disk, !server down, !is down, !service down, !service crash*, !hub crash*,
      !crashed, !hub is slow, !hub slow, !hub not respond*, !not responding,
      !model not load*, !model crash*, !model stuck, !backup fail*, backup, !backups fail*,
      !backup did not, !backup broken, !restart model, !restart service, !restart hub,
      !high cpu, !cpu load, !memory usage, !ram, !system alert, !system error,
      !database down, !database connection, critical, outage, server, log file, stuck,
      overload, diagnos*, uptime, system health, disk, ~system, ~memory, ~alert, ~slow`,
    tr: `
      !saglik uyari, !saglik alarm, !saglik kontrol, !disk dol*, !disk alan, !disk yer,
      !diskte yer, !bellek, !ram, !sunucu cok*, !servis cok*, !hub cok*, !hub yavas*,
      !hub don*, !hub calism*, !hub acilm*, !cevap vermi*, !yanit vermi*, !model yuklenm*,
      !model cok*, !model takil*, !yedek alinm*, !yedek alinama*, !yedekleme basarisiz*,
      !yedek basarisiz, !yedekleme, !yedek, !servisi yeniden, !modeli yeniden,
      !yeniden baslat, !cpu, !islemci, !sistem uyari, !sistem hata, !sistem alarm,
      !veritabani baglan*, !veritabanina baglan*, kritik, kesinti, sunucu, gunluk dosya,
      takildi, ariza, teshis, disk, sistem durum, ~sistem, ~uyari, ~yavas, ~coktu`,
  },
  ceo: {
    en: `
      !okr, !strategy, !strategic, !objectives and key results, !key result, !swot,
      !business plan, !go to market, !quarterly goal, !quarterly plan, !annual plan, !vision,
      !mission statement, !roadmap, !north star, !growth plan, !board meeting, !board update,
      !investor, objective, goals for, our goal, next quarter, this quarter, this year,
      next year, priorit*, market entry, expand, expansion, positioning, business model,
      pivot, where should we, should we focus, focus on, long term, competitive advantage,
      decide between, ~goal, ~growth, ~plan, ~quarter`,
    tr: `
      !okr, !strateji, !stratejik, !swot, !is plan, !anahtar sonuc, !anahtar sonuclar,
      !pazara giris, !ceyrek hedef, !ceyreklik, !yillik plan, !yillik hedef, !vizyon,
      !misyon, !yol harita, !buyume plan, !yonetim kurulu, !yatirimci, hedefler,
      hedeflerimiz, hedef belirle, hedef koy, bu ceyrek, gelecek ceyrek, onumuzdeki ceyrek,
      bu yil, onumuzdeki yil, gelecek yil, oncelik, onceliklendir, genisle, buyume,
      konumlan*, is model, uzun vade, rekabet avantaj, nereye odaklan*, odaklan*, yeni pazar,
      ~hedef, ~plan, ~buyu, ~karar`,
  },
} satisfies Record<AgentName, Phrases>
