package io.github.pulsarspark.options.registry

import io.github.pulsarspark.errors.Conditions

/** Options by the names of this connector.
  *
  * @param translations
  *   one text for each option that had a name of streamnative/pulsar-spark, without secrets
  */
private[registry] final case class Aliases(options: Map[String, String], translations: Seq[String])

/** Translates options of streamnative/pulsar-spark by the rows `aliases` of the table, so that its jobs run unchanged.
  */
private[registry] object Aliases {

  private val Client = "pulsar.client."
  private val Admin  = "pulsar.admin."

  /** Settings that the admin service may have for itself, with the options for them. */
  private val Credentials =
    Map("authPluginClassName" -> "admin.auth.pluginClassName", "authParams" -> "admin.auth.params")

  /** An alias with what it sets. */
  private final case class Translation(alias: AliasDefinition, value: Option[String]) {

    def target: Option[(String, String)] = alias.target.flatMap(t => value.map(t -> _))

    def words: String = target.fold(s"`${alias.name}` without effect") { case (option, text) =>
      s"`${alias.name}` as `$option${if (alias.values.isEmpty) "" else s"=$text"}`"
    }
  }

  /** Fails when a value has no translation, and when two names set one option to different values.
    *
    * @param options
    *   without those of Spark
    * @param fieldsOf
    *   for a `pulsar.*` prefix, the names of the client's fields
    */
  def apply(options: Map[String, String], scopes: Seq[Scope], fieldsOf: String => Seq[String]): Aliases = {
    val (admin, others)    = options.toSeq.sortBy(_._1).partition(_._1.toLowerCase.startsWith(Admin))
    val (foreign, natives) = others.partition(o => OptionRegistry.alias(o._1).isDefined)
    val url                = valueOf(natives, "service.url")
    val translations       = foreign.map { case (key, value) => translate(key, value, scopes, url) }

    val set   = translations.flatMap(t => t.target.map { case (option, value) => (t.alias.name, option, value) })
    val named = natives.flatMap { case (key, value) => OptionRegistry.find(key).map(d => (d.key, d.key, value)) }
    checkConflicts(named, set)
    val result = set.map(s => s._2 -> s._3).toMap.removedAll(named.map(_._1)) ++ natives

    val settings = admin.map { case (key, value) => adminSetting(key, value, result.toSeq, url, fieldsOf(Client)) }
    Aliases(result ++ credentials(settings, result.toSeq), translations.map(_.words) ++ settings.map(_.words))
  }

  /** A setting of the admin service. */
  private final case class AdminSetting(field: String, other: String, value: String, repeats: Boolean) {

    /** The option for credentials that differ from those of the client. */
    def target: Option[String] = if (repeats) None else Credentials.get(field)

    def words: String = s"`$Admin$field` as `${target.getOrElse(other)}`"
  }

  /** Credentials of the admin service alone, as options. What differs only in a part has the other part of the client.
    */
  private def credentials(settings: Seq[AdminSetting], options: Seq[(String, String)]): Map[String, String] = {
    val own   = for (s <- settings; target <- s.target) yield (Admin + s.field, target, s.value)
    val named = for ((key, value) <- options; d <- OptionRegistry.find(key)) yield (d.key, d.key, value)
    checkConflicts(named, own)
    val shared =
      for (
        (field, target) <- Credentials if own.nonEmpty && !named.exists(_._1 == target);
        value           <- valueOf(options, Client + field)
      ) yield target -> value
    shared ++ own.map(o => o._2 -> o._3)
  }

  private def translate(key: String, value: String, scopes: Seq[Scope], url: Option[String]): Translation = {
    val alias = OptionRegistry.alias(key).get
    OptionNames.checkScope(alias.name, alias.scopes, scopes)
    translated(alias, value, url) match {
      case Right(result)                  => Translation(alias, result)
      case Left(_) if alias.isUnsupported =>
        throw Conditions.OptionUnsupported(option = alias.name, note = alias.note).exception
      case Left(allowed) =>
        throw Conditions.OptionAlias(option = alias.name, allowed = allowed, value = value,
          instead = alias.target.fold(alias.note)(t => s"Set `$t` instead.")).exception
    }
  }

  /** The value of the target, None for no effect; else the accepted form in words. */
  private def translated(alias: AliasDefinition, value: String, url: Option[String]): Either[String, Option[String]] = {
    val plain = value.trim.toLowerCase
    alias.rule match {
      case Some("tlsOfServiceUrl") if plain == "true" && !url.forall(isEncrypted) =>
        Left("false, because `service.url` starts neither with pulsar+ssl:// nor with https://")
      case _ if alias.values.nonEmpty || alias.target.isEmpty =>
        alias.values.find(_._1 == plain).map(_._2).toRight(alias.values.map(_._1).mkString(" or "))
      case _ => OptionValue.violation(definition(alias.target.get), value).toLeft(Some(value.trim))
    }
  }

  private def isEncrypted(url: String) = Seq("pulsar+ssl://", "https://").exists(url.trim.startsWith)

  /** Fails when an alias sets an option to another value than another name.
    *
    * @param named
    *   for each option set by its own name: that name, the option, its value
    * @param set
    *   the same for those set by an alias
    */
  private def checkConflicts(named: Seq[(String, String, String)], set: Seq[(String, String, String)]): Unit =
    for (((second, target, value), index) <- set.zipWithIndex)
      (named ++ set.take(index))
        .find(s => s._2 == target && !OptionValue.areEqual(definition(target), s._3, value))
        .foreach(s =>
          throw Conditions.OptionAliasConflict(first = s._1, second = second, target = target).exception
        )

  /** Fails unless a setting of the admin service repeats one of the client or is a credential. */
  private def adminSetting(
      key: String,
      value: String,
      options: Seq[(String, String)],
      url: Option[String],
      fields: Seq[String]
  ): AdminSetting = {
    val field = fields.find(f => key.equalsIgnoreCase(Admin + f)).getOrElse(
      throw OptionNames.unknown(key, fields.map(Admin + _))
    )
    val alias   = OptionRegistry.alias(Client + field)
    val other   = alias.flatMap(_.target).getOrElse(Client + field)
    val repeats = alias.map(translated(_, value, url)) match {
      case Some(Right(Some(result))) =>
        valueOf(options, other).orElse(definition(other).default).exists(
          OptionValue.areEqual(definition(other), _, result)
        )
      case Some(result) => result.isRight
      case None         => valueOf(options, other).exists(_.trim == value.trim)
    }
    if (!repeats && !Credentials.contains(field))
      throw Conditions.OptionAdmin(option = Admin + field, other = other).exception
    AdminSetting(field, other, value, repeats)
  }

  private def valueOf(options: Seq[(String, String)], key: String): Option[String] =
    options.collectFirst { case (k, value) if k.equalsIgnoreCase(key) => value }

  private def definition(key: String) = OptionRegistry.find(key).get
}
