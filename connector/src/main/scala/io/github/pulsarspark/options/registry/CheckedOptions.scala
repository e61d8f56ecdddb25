package io.github.pulsarspark.options.registry

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.options.registry.OptionNames.{checkScope, unknown}

/** Options that passed every check of the table for one [[Scope]]: all keys are known and spelled as in the table, all
  * values have their form.
  *
  * @param set
  *   options that the user set, by the key of the table
  * @param client
  *   settings under the `pulsar.*` prefixes: prefix -> client's own field name -> value
  * @param translations
  *   what was set by names of streamnative/pulsar-spark, in words without secrets
  */
private[pulsarspark] final class CheckedOptions private (
    set: Map[String, String],
    client: Map[String, Map[String, String]],
    val translations: Seq[String]
) {

  def get(key: String): Option[String] = set.get(key).orElse(definition(key).default)

  /** Value that the user set, without the default. */
  def explicit(key: String): Option[String] = set.get(key)

  def apply(key: String): String =
    get(key).getOrElse(throw Conditions.OptionMissing(option = key, example = example(key)).exception)

  def boolean(key: String): Boolean = apply(key).toBoolean
  def bytes(key: String): Long      = OptionValue.bytes(apply(key)).get

  /** Milliseconds. */
  def duration(key: String): Long = OptionValue.duration(apply(key)).get

  def clientSettings(prefix: String): Map[String, String] = client.getOrElse(prefix, Map.empty)

  private def definition(key: String) =
    OptionRegistry.find(key).getOrElse(sys.error(s"option $key is not in the table"))
  private def example(key: String) = definition(key).example.getOrElse("...")
}

private[pulsarspark] object CheckedOptions {

  /** Checks everything that needs no cluster, in a fixed order, so that the JVM and Python report the same first
    * mistake.
    *
    * @param fieldsOf
    *   for a `pulsar.*` prefix, the names of the client's fields
    */
  def apply(options: Map[String, String], scope: Scope, fieldsOf: String => Seq[String]): CheckedOptions =
    apply(options, Seq(scope), fieldsOf)

  /** Like the other `apply`, while the scope is not yet decided: an option may belong to any of these scopes. */
  def apply(options: Map[String, String], scopes: Seq[Scope], fieldsOf: String => Seq[String]): CheckedOptions = {
    val translated    = Aliases(options.filterNot(o => OptionRegistry.isOfSpark(o._1)), scopes, fieldsOf)
    val (client, own) =
      translated.options.toSeq.sortBy(_._1).partition(o => OptionRegistry.prefixOf(o._1).isDefined)

    val set = own.map { case (key, value) =>
      val definition = OptionRegistry.find(key).getOrElse(
        throw unknown(key, OptionRegistry.definitions.map(_.key) ++ OptionRegistry.aliases.map(_.name))
      )
      checkScope(definition.key, definition.scopes, scopes)
      OptionValue.check(definition, value)
      definition.key -> value.trim
    }.toMap

    val settings = client.map { case (key, value) =>
      val prefix = OptionRegistry.prefixOf(key).get
      checkScope(key, prefix.scopes, scopes)
      val field = clientField(key, prefix, fieldsOf)
      val count = prefix.counts.find(_.key == prefix.prefix + field)
      count.foreach(OptionValue.check(_, value))
      (prefix.prefix, field, count.fold(value)(_ => value.trim))
    }

    checkRules(set.keySet ++ settings.map(s => s._1 + s._2), scopes)
    new CheckedOptions(set, settings.groupMap(_._1)(s => s._2 -> s._3).view.mapValues(_.toMap).toMap,
      translated.translations)
  }

  private def clientField(key: String, prefix: PrefixDefinition, fieldsOf: String => Seq[String]): String = {
    OptionRegistry.managed.get(key.toLowerCase).foreach(instead =>
      throw Conditions.OptionManaged(option = key, instead = instead).exception
    )
    OptionRegistry.withoutEffect.get(key.toLowerCase).foreach { case (reason, instead) =>
      throw Conditions.OptionWithoutEffect(option = key, reason = reason, instead = instead).exception
    }
    val allowed = if (prefix.fields.isEmpty) fieldsOf(prefix.prefix) else prefix.fields
    val name    = key.substring(prefix.prefix.length)
    def aliases = OptionRegistry.aliases.map(_.name).filter(_.startsWith(prefix.prefix))
    allowed.find(_.equalsIgnoreCase(name)).getOrElse(throw unknown(key, allowed.map(prefix.prefix + _) ++ aliases))
  }

  private def checkRules(set: Set[String], scopes: Seq[Scope]): Unit = {
    OptionRegistry.conflicts.find { case (a, b) => set(a) && set(b) }
      .foreach { case (a, b) => throw Conditions.OptionConflict(first = a, second = b).exception }
    OptionRegistry.needs.find { case (a, b) => set(a) && !set(b) }
      .foreach { case (a, b) => throw Conditions.OptionIncomplete(present = a, missing = b).exception }
    OptionRegistry.definitions.find(d => d.required && d.scopes.exists(scopes.contains) && !set(d.key))
      .foreach(d =>
        throw Conditions.OptionMissing(option = d.key, example = d.example.getOrElse("...")).exception
      )
    OptionRegistry.exactlyOne.filter(_._2.exists(scopes.contains)).foreach { case (keys, _) =>
      val present = keys.filter(set)
      if (present.size != 1)
        throw Conditions.TopicOption(
          problem = if (present.isEmpty) "none is set" else present.map(k => s"`$k`").mkString(" and ") + " are set"
        ).exception
    }
  }
}
