package io.github.pulsarspark.options.registry

import io.github.pulsarspark.errors.Conditions

/** The options of one read or write by where they are set, not yet checked: those of the query override those stored
  * with its table, which override those of the session. Its text has no values.
  *
  * @param query
  *   options of the query; Spark mixes those of the session into them unless the query is about a table of the catalog
  * @param fieldsOf
  *   the names of the Pulsar client's own settings under a prefix
  * @param session
  *   options of the session
  * @param stored
  *   options stored with a table of Spark's catalog; None for a query without such a table
  * @param warning
  *   receives what was translated as soon as the scope is known
  */
private[pulsarspark] final class RawOptions(
    query: Map[String, String],
    fieldsOf: String => Seq[String],
    session: Map[String, String] = Map.empty,
    stored: Option[Map[String, String]] = None,
    warning: TranslationWarning = TranslationWarning()
) {
  import RawOptions.over

  private val chosen =
    if (stored.isDefined) query else query.filterNot { case (key, value) => session.get(key).contains(value) }
  private val values = over(chosen, over(stored.getOrElse(Map.empty), session))

  def get(key: String): Option[String] = find(values, key)

  /** Value of an option of the query or of its table, not one of the session. */
  def own(key: String): Option[String] = find(ofQueryAndTable, key)

  /** Names of the options of the query or of its table, in order; not those of Spark itself. */
  def ownNames: Seq[String] = ofQueryAndTable.keys.toSeq.sorted.filterNot(OptionRegistry.isOfSpark)

  private def ofQueryAndTable = over(chosen, stored.getOrElse(Map.empty))

  private def find(options: Map[String, String], key: String) =
    options.collectFirst { case (k, v) if k.equalsIgnoreCase(key) => v }

  /** Ignores session options and stored options that have no meaning in these scopes, because the same ones serve reads
    * and writes, batches and streams.
    */
  def check(scopes: Scope*): CheckedOptions = {
    if (stored.exists(_.isEmpty) && values.isEmpty) throw Conditions.TableWithoutOptions().exception
    def isValid(key: String)   = OptionRegistry.scopesOf(key).forall(valid => scopes.exists(_.accepts(valid)))
    def isIgnored(key: String) = !chosen.contains(key) && !isValid(key)
    val checked                = CheckedOptions(values.filterNot { case (key, _) => isIgnored(key) }, scopes, fieldsOf)
    if (scopes.size == 1) warning(checked.translations)
    checked
  }

  override def toString: String = values.keys.toSeq.sorted.mkString("RawOptions(", ", ", ")")
}

private object RawOptions {

  /** Compares what names mean, without letter case. */
  private def over(first: Map[String, String], second: Map[String, String]): Map[String, String] = {
    val names = first.keySet.map(OptionRegistry.meaning)
    second.filterNot(o => names(OptionRegistry.meaning(o._1))) ++ first
  }
}
