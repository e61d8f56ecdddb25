package io.github.pulsarspark.inspect.view

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.{OptionRegistry, RawOptions, Scope}

/** The options that a metadata table takes, besides those of the cluster: all others would have no effect. */
private[inspect] final case class TakenOptions(names: Seq[String]) {
  import TakenOptions._

  def ++(more: TakenOptions): TakenOptions = TakenOptions((names ++ more.names).distinct)

  private lazy val known = (names ++ OfCluster).map(_.toLowerCase).toSet

  /** Fails for an option of the query, or of its table in Spark's catalog, that has no effect. Those of a session or of
    * a catalog are for many queries.
    */
  def check(table: String, options: RawOptions): Unit =
    options.ownNames.find(key => !known(effect(key))).foreach { key =>
      throw Conditions.MetadataOption(option = key, table = table, taken = words.mkString(", ")).exception
    }

  /** The options in words. */
  def words: Seq[String] = {
    val (all, single) = if (ofReads.names.forall(names.contains))
      (Seq("those of a batch read"), names.diff(ofReads.names))
    else (Nil, names)
    all ++ single.map(name => if (name.endsWith(".")) s"`$name*`" else s"`$name`")
  }
}

private[inspect] object TakenOptions {

  def of(names: String*): TakenOptions = TakenOptions(names)

  /** Options that select topics. */
  val OfTopics: TakenOptions = of("topic", "topics", "topicsPattern", "allowMissingTopics")

  /** Options of readers that find positions. */
  val OfReaders: TakenOptions = of("subscriptionPrefix", "readCompacted", "pulsar.reader.")

  /** Options of reads that count messages. */
  val OfCounts: TakenOptions =
    OfReaders ++ of("pollTimeoutMs", "readAheadBytes", "maxMessageBytes", "encryption.privateKeyFile")

  /** Options of a batch read. */
  lazy val ofReads: TakenOptions = {
    val families = OptionRegistry.prefixes.filter(p => Scope.BatchRead.accepts(p.scopes)).map(_.prefix)
    val options  = OptionRegistry.definitions.filter(d => Scope.BatchRead.accepts(d.scopes)).map(_.key)
    TakenOptions((options ++ families).filterNot(OfCluster.toSet))
  }

  /** Options of the cluster, of its credentials and of TLS to brokers, which every table takes. */
  private lazy val OfCluster: Seq[String] = {
    val groups = Set("connection", "authentication", "tls")
    val names  = OptionRegistry.definitions.filter(d => groups(d.group)).map(_.key).filterNot(_.startsWith("bookie."))
    names ++ Seq("pulsar.client.", "metadata")
  }

  /** The option, or the family of options, that a name stands for, in lower case. */
  private def effect(key: String): String = {
    val meaning = OptionRegistry.meaning(key)
    OptionRegistry.prefixOf(meaning).fold(meaning)(_.prefix)
  }
}
