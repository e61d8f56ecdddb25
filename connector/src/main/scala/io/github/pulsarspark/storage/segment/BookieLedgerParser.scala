package io.github.pulsarspark.storage.segment

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import java.util.regex.Pattern

import scala.collection.mutable
import scala.util.Try

/** Reads the text that the admin API reports for a ledger's metadata (`LedgerMetadata.toSafeString` of BookKeeper). It
  * is no contract, so whatever is not exactly as expected is refused. Regular expressions would take half of the time
  * in which a read of 100,000 ledgers is planned.
  *
  * Ledgers of one topic mostly have the same bookies and the same owner; what they have in common is kept once. Used by
  * one thread at a time.
  */
private[storage] final class BookieLedgerParser {
  import BookieLedgerParser._

  private val ensembles = mutable.HashMap.empty[String, Either[String, Seq[(Long, Seq[String])]]]
  private val owners    = mutable.HashMap.empty[String, Option[String]]

  /** Parses the metadata of a ledger. Left: the reason why the text is not understood. */
  def parse(id: Long, text: String): Either[String, BookieLedger] = parts(text) match {
    case Some((head, listed, custom)) =>
      val fields = Comma.split(head).map(_.split("=", 2)).collect { case Array(key, value) => key -> value }.toMap
      for {
        parsed <- ensembles.getOrElseUpdate(listed, parseEnsembles(listed))
        ledger <- Try(BookieLedger(
          id,
          fields("formatVersion").toInt,
          fields("ensembleSize").toInt,
          fields("writeQuorumSize").toInt,
          fields("ackQuorumSize").toInt,
          fields("digestType").intern,
          parsed,
          custom.flatMap(text => owners.getOrElseUpdate(text, managedLedger(text)))
        )).toEither.left.map(_ => s"its metadata is not understood: $text")
        _ <- Either.cond(isSound(ledger), (), s"its metadata is not sound: $text")
      } yield ledger
    case None => Left(s"its metadata is not understood: $text")
  }
}

private object BookieLedgerParser {
  private val Begin     = "LedgerMetadata{"
  private val Ensembles = ", ensembles={"
  private val Custom    = ", customMetadata={"
  private val Owner     = "pulsar/managed-ledger=base64:"
  private val Comma     = Pattern.compile(", ")
  private val Between   = Pattern.compile("\\], ")

  /** Splits the text into the part before the ensembles, the ensembles, and the part after them. */
  private def parts(text: String): Option[(String, String, Option[String])] = {
    val ensembles = text.indexOf(Ensembles)
    val end       = text.indexOf("]}", ensembles) + 1
    if (!text.startsWith(Begin) || !text.endsWith("}") || ensembles < 0 || end == 0 || end + 1 == text.length) None
    else {
      val head = text.substring(Begin.length, ensembles)
      val all  = text.substring(ensembles + Ensembles.length, end)
      text.substring(end + 1, text.length - 1) match {
        case ""                                                    => Some((head, all, None))
        case rest if rest.startsWith(Custom) && rest.endsWith("}") =>
          Some((head, all, Some(rest.substring(Custom.length, rest.length - 1))))
        case _ => None
      }
    }
  }

  /** `0=[bookie, bookie], 245=[bookie, bookie]`; names are kept once in this JVM. */
  private def parseEnsembles(text: String): Either[String, Seq[(Long, Seq[String])]] = {
    val parsed = Between.split(text.stripSuffix("]")).toSeq.map(_.split("=", 2)).collect { case Array(first, bookies) =>
      first.toLongOption.getOrElse(-1L) -> Comma.split(bookies.stripPrefix("[")).toSeq.map(_.intern)
    }
    val rendered = parsed.map { case (first, bookies) => s"$first=${bookies.mkString("[", ", ", "]")}" }.mkString(", ")
    val plain    = parsed.forall(_._2.forall(_.forall(c => c != '[' && c != ']' && c != '=')))
    Either.cond(rendered == text && plain, parsed.sortBy(_._1), s"its ensembles are not understood: $text")
  }

  private def isSound(ledger: BookieLedger): Boolean =
    ledger.ensembles.head._1 == 0 && ledger.ensembles.forall(_._2.size == ledger.ensembleSize) &&
      ledger.ackQuorum >= 1 && ledger.ackQuorum <= ledger.writeQuorum && ledger.writeQuorum <= ledger.ensembleSize

  private def managedLedger(custom: String): Option[String] =
    Comma.split(custom).find(_.startsWith(Owner)).map(pair =>
      new String(Base64.getDecoder.decode(pair.substring(Owner.length)), UTF_8)
    )
}
