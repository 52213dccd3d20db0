/// Words that name nothing: articles, pronouns, question words, prepositions, conjunctions, numerals, and the
/// verbs, adverbs and adjectives that stand in the repository. A sentence of these alone has no noun.
/// Words that are nouns in this field as well (`name`, `time`, `lease`, `token`) do not belong here.
enum PlainWords {
    static let all = Set(text.split(whereSeparator: \.isWhitespace).map(String.init))

    private static let text = """
        a able about above absent absolute absurd absurdly accept accepted accepts across act
        acted active acts add added adding adds admit admits after afterwards again against ago
        agree agreed agrees ahead alike alive all allow allowed allows almost alone along
        alphabetical already also altered although always am america among an and anew announced
        another answered any anybody anyone anything anything's anyway anywhere apart applied
        applies apply appointed approved approves are aren't around arrive arrived arrives as
        ascend ascending aside ask asked asking asks asleep assert asserted asserts assigned
        astray at atonce attached attested autonomous available avoid await awake away back
        backwards bad bare basic be bear bears beats became because become becomes been before
        beforehand began begin beginning begins begun behind being believe believed believes
        belong belonged belongs below beside besides best better between beyond big black bland
        blank blind blocking boolean born borrow both bought bound bounded bounds breached
        breaking breaks briefly bring bringing brings broke broken brought built burnt busy but by
        bypasses called calling calls came can can't cancelled cancels cannot careful carried
        carries carry case cases caught caused causes certain certified certifies changed changing
        cheap checked checking choose chooses chose chosen cleaned clear cleared clears closed
        closely closer closes closest closing coarsely come comes coming common compact compare
        compared compares comparing compatible complete completes composed composes compressed
        compresses computed computes computing concerned concerns concurrently configured confirm
        confirmed confirming confirms conforms connected connecting connects constant contained
        contains contended continuous contradicts contrary convinces cooperative copied copying
        correct correctly could counted counting counts covers create created creates cross
        crossed current cut damaged dark darkened dead dearest deceives decide decided decides
        declare declared declares decoded decodes decoding decrypted dedicated deep deeper defined
        defines definite delayed deleted deletes deliver delivered delivers denied denies departs
        depend depending depends derive derived derives describe described describes destroyed
        destroying destroys destructive detail did died dies differ different differently differs
        digested direct directly disable disabled disables disabling disagree disclosed dispatched
        dispatches distant divided divides do does doesn't doing don't done dotted doubled doubles
        down drawn draws driven drives drop dropped drops due during dying e each earlier early
        earnest easier easily easy effective eg eight either elapsed else else's elsewhere empty
        enabled enables encoded encrypted encrypting encrypts ended ending ends enforced enforces
        english enhanced enough enrol enrolled enrolls enrols enter enters equal equals equivalent
        erased erases erasing escaped escapes escaping etc even evenly ever every everybody
        everybody's everyone everything everywhere exactly exceed exceeded except exclusive
        exclusively executes exist existed existing exists expand expect expected expects
        expensive expired expires explained explicit expressed extended extends failed failing
        fails fair fall falls false far farther fast faster fastest fell fetched fetches few fewer
        fewest fifteen fifty fill filled filling fills filtered final find finds fine finish
        finished finishes finite first fit fits five fixed flies flushed flushing folded follow
        followed following follows for forbidden forbids foreign forge forged forget forgets
        forgotten former forsaken forward forwarded forwarding found four free freed frees
        frequent fresh from front frozen full fuller further furthest future g gathered gathers
        gave genuine get gets getting give given gives global go goes going golden gone good got
        granted greater greatest grow growing grown grows guarded guards guessed guessing had half
        halts hand handed handful handing handled handles hands hang hanging hangs happen happened
        happening happens hardly harmless has have having he hear heard hears heeded heeds held
        help helped helps hence her here hidden hide hides high higher highest him his hold
        holding holds hot hourly how however hundred hung i identical identified identifies idle
        ie if ignored ignores immutable imply important imported in included includes indented
        independent inherit inherited initial initiated inlined inner inside instead intact into
        introduce introspected invalid invalidated invalidates invisible invited invites involved
        is isn't issued issues it its itself join joined joining joins judged judges jumped just
        keep keeping keeps kept killed kind kinds knew know known knows lacks landed large larger
        largest last lasted lasts late lately later latest latter lay lead leading leads leaked
        learn learns least leave leaves led left leftover lends lenient less let lets lie lies
        lightened lighter lightest like likely likewise limited literal literally little live
        lived lives living loaded loading loads local locked logged lone long longer longest look
        looked looking looks loose lose loses losing lost loud low lower lowest made mailed
        mailing major make makes making malformed managed manages many map mapped maps marked
        marks match matched matches matching matter matters may maybe me mean meaning means meant
        measured measures meet meets mended mends mere merely met might migrated miss misses
        missing misspelt mistaken mistyped misused mix mixes monotonic more most mostly move moved
        moves much must mutable named near nearer nearest nearly need needed needs negated
        negative neither never nevertheless new newer newest next nil nine ninety no nobody
        nobody's non none nor not nothing noticed notices notified notifies now nowhere numbered
        of off offer offered offers offline often old older oldest on once once's one one's ones
        only onto opaque open opened opening opens opt optimal optimistic optional or ordered
        other other's others others' otherwise our ours ourselves out outer outermost outlive
        outlives outside over overdue overheard overlong override overrides overrules overwrites
        overwritten owes own owned owns padded paid parked parsed parses parsing part parted
        partial particular parts passed passes past patiently paused pays pending per perfect
        performed performs perhaps permanent permits permitted picked pinged plain planned plants
        please plus pointed points polled polls positive possible posted prefer prepared prepares
        preparing present presented pressed presses prevents previous printable printed printing
        prints private probably processed produced promised promises promoted proper protected
        protects proved proven proves proving pseudonymous published publishes pure pushed pushes
        put puts putting quick quickest quiet quoted raised raises ran random rare rarely rarer
        rather raw reach reachable reached reaches read readable reads ready real received
        receives recent recently recheck recognised recognized recommended recommends recorded
        recovers redeem redeemed redeems redirected redirects referred refers refreshed refreshes
        refreshing refuse refused refuses refusing regarded regardless registered registering
        registers regular rejected rejects related relative released releases relied relies rely
        relying remain remains remember remembered remembers reminded removed removes render
        rendered renewed renews repaired repairs repeated repeats replaced replaces replayed
        replays reported reports requested required requires reset resolved resolves respective
        rest restarted restarts restored resumed resumes resuming retired retires retried retries
        retry returned returns reused revealed reversed reversible reviewed revoked revokes
        rewrites rewritten right rightly rings rise rises rolled rotated rotates roughly rounded
        rounds ruled rules run running runs safe said sake same sat saw say saying says scheduled
        sealed seals searched second see seem seemed seems seen sees seldom selected send sending
        sends sensitive sent separate separated served serves serving set sets setting settled
        settles seven several shall shared shares sharp she short shortened shorter shortest
        shortly should show showed showing shown shows shuffles shut side sides sighted sign
        signed significant signing signs silent silently similar simple simply since single six
        sixteen skipped skips sleeps slow slowly slows small smaller smallest smuggled so sole
        solved some somebody someone something something's somewhere soon sooner sort sorted sorts
        spare speak speaks special spelled spells spelt split splits spoils spoken spread spreads
        stale stand standing stands start started starts stated stay stayed stays steadily still
        stolen stood stop stopped stopping stops stored straight strict stricter strictest
        strictly strong stronger strongest strongly succeed succeeded succeeds successful
        successive such suggested suggests summed supplied supplies supported supports suppose
        supposed supposes sure surely suspended suspends suspicious swaps sweeps swept switched
        switches synchronous take taken takes taking talk talks taught tell telling tells
        temporary ten tenth tenths than that the their theirs them themselves then there thereby
        therefore these they thing things third thirty this those though thought thousand
        thousandth three thrice through throughout throw thrown throws ticked tidy tied ties tiled
        to today together told tolerates tomorrow too took top total touched touches towards
        treated treats tried tries trigger trim true trusted trusts try trying turn turned turning
        turns twelve twenty twice two typed typing unable unchanged unchecked unclaimed
        unconfirmed under underscored understand understands understood undescribed undo undoes
        undone unencoded unencrypted unfinished uniform uniformly unique unknown unless unlike
        unlinks unpacked unpredictable unproved unread unreadable unsealed unset unspecified
        unsupported until untouched unused unusual unverified unwiped unwrapped up upon upper us
        usable use used useful useless uses using usual usually vain valid validated validates
        vanished varies various vary verified verifies verify verifying very via visible void
        vouch vouched vouches wait waited waiting waits wakes waking walked walks want wanted
        wants warned warns was washes watches way ways we weaker weighs welcome well went were
        what whatever when whenever where whereas wherever whether which whichever while who
        whoever whole whom whose why whyever wide wider widest will winning wins wiped wipes with
        withdrawn withdraws withheld within without woken won worked works worse worst worth would
        wrap wrapped wraps write writes writing written wrong wrongly wrote yes yet you young your
        yours zero
        """
}
